// The live stepper of %step --live: one frame of a backward at a time, by button, slider or key.
// All words come from Python and are set as text, so nothing in them can become markup.

const KEYS = { ArrowLeft: -1, ArrowUp: -1, PageUp: -1, ArrowRight: 1, ArrowDown: 1, PageDown: 1 };

function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function table(rows) {
  const made = element("table");
  const head = made.createTHead().insertRow();
  for (const name of ["value", "adjoint so far", ""]) {
    const cell = element("th", name);
    cell.scope = "col";
    head.append(cell);
  }
  const body = made.createTBody();
  for (const { cells, isNew } of rows) {
    const row = body.insertRow();
    row.className = isNew ? "new" : "";
    cells.forEach((text, k) => {
      const cell = element(k === 0 ? "th" : "td", text, k === 1 ? "adjoint" : "");
      if (k === 0) cell.scope = "row";
      row.append(cell);
    });
  }
  return made;
}

function frameOf(frame) {
  const made = [element("h4", frame.heading), element("div", frame.arrived)];
  if (frame.words) made.push(element("div", frame.words, "quiet"));
  for (const gain of frame.gains) made.push(element("div", gain, "gain"));
  made.push(table(frame.rows));
  for (const line of frame.more) made.push(element("div", line, "quiet"));
  return made;
}

function render({ model, el }) {
  const steps = model.get("steps");
  const last = steps.frames.length; // 0 is the start, before any node is taken
  const root = element("div", undefined, "autodiff-stepper");
  root.tabIndex = 0;
  root.dataset.lmSuppressShortcuts = "true"; // JupyterLab would take the arrow keys for its own
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", `${steps.title}. Arrow keys step, Home and End go to the ends.`);
  root.append(element("strong", steps.title));

  const bar = element("div", undefined, "bar");
  const slider = element("input");
  Object.assign(slider, { type: "range", min: 0, max: last, step: 1 });
  slider.setAttribute("aria-label", "step");
  const place = element("span", "", "place");
  const go = (to) => {
    model.set("at", Math.min(Math.max(to, 0), last));
    model.save_changes();
  };
  const buttons = [["|◀", "first step", () => 0], ["◀", "step back", (at) => at - 1],
                   ["▶", "step forward", (at) => at + 1], ["▶|", "last step", () => last]];
  for (const [sign, name, target] of buttons) {
    const button = element("button", sign);
    button.type = "button";
    button.title = name;
    button.setAttribute("aria-label", name);
    button.onclick = () => go(target(model.get("at")));
    bar.append(button);
  }
  slider.oninput = () => go(Number(slider.value));
  bar.append(slider, place);

  const shown = element("div", undefined, "frame");
  shown.setAttribute("aria-live", "polite");
  root.append(bar, shown);
  for (const note of steps.notes) root.append(element("div", note, "quiet"));

  root.onkeydown = (event) => {
    if (event.target === slider && event.key.startsWith("Arrow")) return event.stopPropagation(); // moves by itself
    const at = model.get("at");
    if (event.key in KEYS) go(at + KEYS[event.key]);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(last);
    else return;
    event.preventDefault(); // and the notebook does not move to another cell
    event.stopPropagation();
  };

  const draw = () => {
    const at = model.get("at");
    const content = at === 0 ? [element("div", steps.start)] : frameOf(steps.frames[at - 1]);
    if (at === last && steps.result) content.push(element("div", steps.result, "gain"));
    shown.replaceChildren(...content);
    slider.value = at;
    place.textContent = `${at} of ${last}`;
  };
  model.on("change:at", draw);
  draw();
  el.append(root);
  return () => model.off("change:at", draw);
}

export default { render };
