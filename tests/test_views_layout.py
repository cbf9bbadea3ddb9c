"""The layered layout: boxes do not overlap, lines lead forward, and the same input gives the same picture."""

import random

import pytest

from autodiff_kernel.views.layout import assign_ranks, layered


def random_graph(n, seed):
    draw = random.Random(seed)
    edges = []
    for target in range(2, n):
        for _ in range(draw.choice([1, 2, 2])):
            edges.append((max(0, target - 1 - int(draw.expovariate(0.3))), target))
    sizes = [(draw.randint(40, 200), draw.randint(20, 90)) for _ in range(n)]
    return sizes, edges


def rectangles(sizes, plan):
    return [
        (x - w / 2, y - h / 2, x + w / 2, y + h / 2)
        for (x, y), (w, h) in zip(plan.centers, sizes, strict=True)
    ]


def crossings(plan, edges):
    """Pairs of lines between the same two ranks whose ends are in opposite order."""
    found = 0
    for k, (a, b) in enumerate(plan.routes):
        for c, d in plan.routes[:k]:
            if a[0] == c[0] and b[0] == d[0] and (a[1] - c[1]) * (b[1] - d[1]) < 0:
                found += 1
    return found


@pytest.mark.parametrize("direction", ["LR", "TB"])
@pytest.mark.parametrize("n", [1, 2, 3, 20, 150])
def test_boxes_lie_inside_and_do_not_overlap(n, direction):
    sizes, edges = random_graph(n, seed=n)
    plan = layered(sizes, edges, direction=direction)
    boxes = rectangles(sizes, plan)
    for k, (left, top, right, bottom) in enumerate(boxes):
        assert left >= -0.5 and top >= -0.5 and right <= plan.width + 0.5 and bottom <= plan.height + 0.5
        for other in boxes[:k]:
            assert not (left < other[2] and other[0] < right and top < other[3] and other[1] < bottom)


@pytest.mark.parametrize("direction", ["LR", "TB"])
def test_every_line_leads_to_a_later_rank_and_ends_at_its_boxes(direction):
    sizes, edges = random_graph(60, seed=7)
    plan = layered(sizes, edges, direction=direction)
    along = 0 if direction == "LR" else 1
    for (source, target), (start, end) in zip(edges, plan.routes, strict=True):
        assert plan.ranks[source] < plan.ranks[target]
        assert start[along] < end[along]
        assert end[along] == plan.centers[target][along] - sizes[target][along] / 2
        if plan.ranks[target] - plan.ranks[source] == 1:
            assert start[along] == plan.centers[source][along] + sizes[source][along] / 2
        else:
            assert start in plan.trunks[source]


def test_long_lines_from_one_box_share_a_trunk():
    chain = [(i, i + 1) for i in range(1, 9)]
    plan = layered([(40, 20)] * 10, [(0, 3), (0, 6), (0, 9), *chain])
    assert list(plan.trunks) == [0]
    assert len(plan.trunks[0]) == 1 + 2 * (plan.ranks[9] - plan.ranks[0] - 1)


def test_a_tree_has_no_crossing_and_keeps_the_order_of_inputs():
    edges = [(0, 4), (1, 4), (2, 5), (3, 5), (4, 6), (5, 6)]
    plan = layered([(40, 20)] * 7, edges)
    assert crossings(plan, edges) == 0
    assert [y for _, y in plan.centers[:4]] == sorted(y for _, y in plan.centers[:4])


def test_sweeps_undo_a_crossing():
    edges = [(0, 2), (1, 2), (0, 3), (2, 4), (3, 4)]  # x1·x2 + x1²: the plain order crosses once
    plan = layered([(40, 20)] * 5, edges)
    assert crossings(plan, edges) == 0


def test_a_leaf_stands_beside_its_only_consumer():
    edges = [(0, 1), (1, 2), (2, 3), (4, 5), (3, 5)]
    assert assign_ranks(6, edges) == [0, 1, 2, 3, 3, 4]


def test_top_to_bottom_is_the_transpose_of_left_to_right():
    sizes, edges = random_graph(25, seed=3)
    flipped = [(h, w) for w, h in sizes]
    plan, other = layered(sizes, edges), layered(flipped, edges, direction="TB")
    assert [(y, x) for x, y in plan.centers] == list(other.centers)
    assert (plan.width, plan.height) == (other.height, other.width)


def test_the_same_graph_is_placed_the_same_way():
    sizes, edges = random_graph(150, seed=11)
    assert layered(sizes, edges) == layered(sizes, list(edges))


def test_double_edges_lonely_boxes_and_nothing_at_all():
    plan = layered([(40, 20)] * 3, [(0, 1), (0, 1)])
    assert plan.routes[0] == plan.routes[1]
    assert len(plan.centers) == 3
    assert layered([], []).centers == ()


def test_a_chain_of_many_thousand_boxes_needs_no_recursion():
    n = 5000
    plan = layered([(40, 20)] * n, [(i, i + 1) for i in range(n - 1)], rank_gap=10)
    assert plan.width == 50 * n - 10
    assert {y for _, y in plan.centers} == {10}
