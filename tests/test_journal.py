"""What recording notes, and what is made of it when somebody asks."""

import gc
import weakref

import pytest

import autodiff_kernel as torch
from autodiff_kernel.core import journal, trail
from autodiff_kernel.core.facts import kept_of, received
from autodiff_kernel.core.modes import recording


@pytest.fixture(autouse=True)
def _empty():
    journal.LOG.clear()
    trail.TRAIL.clear()


def test_an_event_is_made_once_and_its_inputs_are_the_events_of_the_inputs():
    with recording():
        x = torch.tensor([1.0, 2.0])
        y = x * 3
    (made, times) = journal.LOG
    assert made is x.fact and times is y.fact and list(journal.LOG)[1] is times
    assert times.inputs == (made, 3) and times.inputs[0] is made
    assert times.value.tolist() == [3.0, 6.0] and times.tensor() is y and times.place.text == "y = x * 3"


def test_values_are_those_of_the_time_of_the_operation():
    array = torch.tensor([1.0, 2.0])
    with recording():
        y = array + 1
        array.numpy()[0] = 10.0  # nobody sees that
        z = array + 1
        y.zero_()
    first, second = [e for e in journal.LOG if e.name == "add"]
    assert first.inputs[0].value.tolist() == [1.0, 2.0] and second.inputs[0].value.tolist() == [10.0, 2.0]
    assert (
        first.value.tolist() == [2.0, 3.0]
        and y.fact.value.tolist() == [0.0, 0.0]
        and z.tolist() == [11.0, 3.0]
    )


def test_the_indexes_of_the_log_say_what_a_search_finds():
    with recording():
        w = torch.tensor(2.0, requires_grad=True)
        for _ in range(3):
            (w * w + w).backward()
    events = list(journal.LOG)
    assert [journal.LOG.position(e) for e in events] == list(range(len(events)))
    uses = [
        i for i, e in enumerate(events) if any(getattr(x, "result", 0) is w.fact.result for x in e.inputs)
    ]
    assert journal.LOG.uses(w.fact.result) == uses and len(uses) > 5


def test_a_deposit_is_an_event_for_each_leaf():
    with recording():
        a, b = (torch.tensor(v, requires_grad=True) for v in (2.0, 3.0))
        (a * b).backward()
        (a * b).backward()
    sums = [e for e in journal.LOG if e.kind == "gradient"]
    assert [e.tensor() for e in sums] == [a, b, a, b] and [e.p for e in sums] == [False, False, True, True]
    assert a.grad.fact.inputs[0].tensor() is a and a.grad.fact.value == 6.0


def test_what_came_to_a_node_is_the_sum_of_its_parts():
    with recording():
        x = torch.tensor([1.0, -2.0], requires_grad=True)
        y = x * 2
        loss = (y * y + y).sum()
        loss.backward()
    node = y.grad_fn
    assert kept_of(node).grad.tolist() == [5.0, -7.0] and kept_of(x.node).grad.tolist() == [10.0, -14.0]
    parts = received([node])[node]
    assert sorted(part.tolist() for _, _, part in parts) == [[1.0, 1.0], [2.0, -4.0], [2.0, -4.0]]


def test_a_hook_changes_what_came():
    with recording():
        x = torch.tensor(3.0, requires_grad=True)
        y = x * x
        y.register_hook(lambda g: g * 10)
        (y * 2).backward()
    assert kept_of(y.grad_fn).grad == 20.0 and kept_of(x.node).grad == 120.0


def test_large_gradients_are_not_kept_but_zero_is_told():
    with recording():
        x = torch.ones(100, requires_grad=True)
        (x * torch.zeros(100)).sum().backward()
        (x.exp() * torch.cat([torch.zeros(99), torch.ones(1)])).sum().backward()
    steps = [s for s in trail.told().passed if s.target.tensor() is x]
    assert [(s.gradient, s.zeros) for s in steps] == [(None, (False, True)), (None, (False, False))]


def test_of_a_walk_whose_beginning_is_forgotten_nothing_is_claimed(monkeypatch):
    with recording():
        x = torch.tensor(1.0, requires_grad=True)
        y = x
        for _ in range(trail.TRAIL.maxlen + 5):
            y = y * 1.0
        y.backward()
    assert len(trail.TRAIL) == trail.TRAIL.maxlen and kept_of(x.node).grad is None and x.grad == 1.0


def test_neither_tensors_nor_their_arrays_are_kept_alive():
    with recording():
        w = torch.ones(100, 100, requires_grad=True)
        h = w * 2
        loss = h.sum()
        loss.backward()
    refs = [weakref.ref(h), weakref.ref(h.raw), weakref.ref(h.grad_fn), weakref.ref(w.grad.raw)]
    gc.disable()
    try:
        del h, loss
        w.grad = None
        assert [r() for r in refs] == [None] * 4
    finally:
        gc.enable()


def test_a_leaf_that_all_of_a_long_chain_gives_to_is_summed_once():
    with recording():
        x = y = torch.tensor(1.0, requires_grad=True)
        for _ in range(2000):
            y = y + x
        y.backward(retain_graph=True)
        counted = trail.total
        sums = []
        try:
            trail.total = lambda parts: sums.append(len(parts)) or counted(parts)
            told = trail.Told()
        finally:
            trail.total = counted
    assert sum(sums) < 10_000  # four million if it is summed anew for each that gives to it
    assert len(told.received[id(x.node.leaf)]) == 2001
