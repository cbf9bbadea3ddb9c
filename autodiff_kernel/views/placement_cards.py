"""The placement view as text and as cards in HTML."""

from __future__ import annotations

from typing import Any

from .style import GREY, INK, LEAF, LINE, OUTPUT, RULE, card_html, escape_xml, printable

_MOST = 40  # tensors that a card lists


def size(nbytes: int) -> str:
    """Bytes for people, in powers of 1000: 640 B, 4.0 kB, 40.0 MB.

    >>> size(640), size(4000), size(40_000_000)
    ('640 B', '4.0 kB', '40.0 MB')
    """
    amount, unit = float(nbytes), "B"
    for bigger in ("kB", "MB", "GB", "TB"):
        if amount < 1000:
            break
        amount, unit = amount / 1000, bigger
    return f"{int(amount)} B" if unit == "B" else f"{amount:.1f} {unit}"


def state(d: Any) -> str:
    """How full the device is, in words."""
    if d.allocated is None:
        return f"{size(d.nbytes)} in {len(d.tensors)} tensor{'s' * (len(d.tensors) != 1)}"
    kept = d.reserved - d.allocated
    spare = f" · {size(kept)} kept for reuse" if kept > 0 else ""
    return f"allocated {size(d.allocated)} · reserved {size(d.reserved)} · peak {size(d.peak)}{spare}"


def copied(c: Any) -> str:
    """'2 copies, 96 B'."""
    return f"{c.count} cop{'y' if c.count == 1 else 'ies'}, {size(c.nbytes)}"


def _copy(c: Any) -> str:
    shapes = f" ({', '.join(c.shapes)})" if c.shapes else ""
    return f"{c.source} → {c.target}: {copied(c)}{shapes}"


def text(model: Any) -> str:
    """The view in characters."""
    out = [printable(model.title)]
    for d in model.devices:
        label = " (simulated)" if d.simulated else ""
        out += ["", f"{d.name}{label}: {state(d)}"]
        shown = d.tensors[:_MOST]
        widths = [max((len(getattr(t, k)) for t in shown), default=0) for k in ("name", "dtype", "shape")]
        for t in shown:
            last = f"shares {t.shares}'s memory" if t.shares else size(t.nbytes)
            cells = [w.ljust(n) for w, n in zip((t.name, t.dtype, t.shape), widths, strict=True)]
            out.append(printable("  " + "  ".join([*cells, last])))
        if len(d.tensors) > _MOST:
            out.append(f"  … and {len(d.tensors) - _MOST} more")
        if not shown:
            out.append("  nothing of these")
    if model.recent:
        out += ["", f"{model.arrows_mean.rstrip('.')}:", *(f"  {_copy(c)}" for c in model.recent)]
    if model.copies:
        out += ["", "Copied between devices so far:", *(f"  {_copy(c)}" for c in model.copies)]
    return "\n".join(out)


def html(model: Any, picture: str = "") -> str:
    """The picture, where there is one; a card for each device, side by side; and the copies under them."""
    cards = "".join(
        _device(d, max((x.reserved or x.nbytes for x in model.devices), default=0)) for d in model.devices
    )
    title = f"<div style='font-weight:600;padding:2px 0 8px;color:{INK}'>{escape_xml(model.title)}</div>"
    out = [
        f"{picture or title}"
        f"<div style='display:flex;flex-wrap:wrap;gap:14px;align-items:flex-start'>{cards}</div>"
    ]
    for copies, what in (
        (model.recent, model.arrows_mean.rstrip(".")),
        (model.copies, "Copied between devices so far"),
    ):
        if copies:
            items = "".join(f"<li>{escape_xml(_copy(c))}</li>" for c in copies)
            out.append(
                f"<div style='padding-top:8px;color:{INK}'>{what}:"
                f"<ul style='margin:2px 0 0;padding-left:20px'>{items}</ul></div>"
            )
    return card_html("".join(out))


def _device(d: Any, most: int) -> str:
    badge = (
        f" <span style='border:1px dashed {OUTPUT};color:{OUTPUT};border-radius:4px;padding:0 4px;font-size:11px'>"
        "simulated</span>"
        if d.simulated
        else ""
    )
    full = d.allocated if d.allocated is not None else d.nbytes
    share = round(100 * full / most) if most else 0
    bar = (
        f"<div style='height:8px;background:#e6eaee;border-radius:4px;margin:6px 0'>"
        f"<div style='height:8px;width:{min(share, 100)}%;background:{LEAF};border-radius:4px'></div></div>"
    )
    rows = "".join(_tensor(t) for t in d.tensors[:_MOST])
    if len(d.tensors) > _MOST:
        left_out = f"… and {len(d.tensors) - _MOST} more"
        rows += f"<tr style='background:#ffffff'><td colspan='4' style='color:{GREY}'>{left_out}</td></tr>"
    body = (
        f"<table style='border-collapse:collapse;font-size:13px;color:{INK};margin:0'><thead><tr style='background:#ffffff'>"
        + "".join(
            f"<th scope='col' style='text-align:left;padding:2px 12px 2px 0;font-weight:600;color:{GREY};border-bottom:1px "
            f"solid {RULE}'>{h}</th>"
            for h in ("tensor", "dtype", "shape", "memory")
        )
        + f"</tr></thead><tbody>{rows}</tbody></table>"
        if d.tensors
        else f"<span style='color:{GREY}'>nothing of these</span>"
    )
    edge = LINE if d.name == "cpu" else LEAF
    return (
        f"<div style='border:1.2px solid {edge};border-radius:6px;padding:8px 12px;min-width:240px'>"
        f"<b>{escape_xml(d.name)}</b>{badge}<br><span style='color:{GREY}'>{escape_xml(state(d))}</span>{bar}{body}</div>"
    )


def _tensor(t: Any) -> str:
    memory = f"shares {t.shares}'s memory" if t.shares else size(t.nbytes)
    cells = "".join(
        f"<td style='text-align:left;padding:2px 12px 2px 0;color:{GREY if i == 3 and t.shares else INK}'>"
        f"{escape_xml(c)}</td>"
        for i, c in enumerate((t.name, t.dtype, t.shape, memory))
    )
    return f"<tr style='background:#ffffff'>{cells}</tr>"
