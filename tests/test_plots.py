"""Test that plots show the numbers of the results, on the axes they are given."""

import sys
from functools import cache
from importlib import import_module

import numpy as np
import pytest

import stb_gym
from stb_gym.rounds import Round
from stb_gym.solver import move_tree

BOX = stb_gym.ShutTheBox(tiles=4)


@cache
def best(objective="score"):
    return stb_gym.solve(BOX, objective)


def evaluations():
    return {name: best().evaluate(stb_gym.strategy(BOX, name)) for name in ("optimal", "random")}


def evaluated_round():
    return Round(BOX, players=3).evaluate(["optimal", "random", "biggest-first"])


DRAW = {
    "afterstate_values": lambda plots, ax: plots.afterstate_values(stb_gym.solve(stb_gym.Threes(dice=2)), ax=ax),
    "some afterstates": lambda plots, ax: plots.afterstate_values(best("shut"), -np.arange(17), np.arange(17) > 9, ax),
    "score_distribution": lambda plots, ax: plots.score_distribution(evaluations(), ax=ax),
    "cumulative": lambda plots, ax: plots.score_distribution(evaluations(), cumulative=True, ax=ax),
    "departures": lambda plots, ax: plots.departures(evaluations()["random"], limit=3, ax=ax),
    "no departures": lambda plots, ax: plots.departures(best("shut").evaluate(best("shut").policy), ax=ax),
    "regret_curves": lambda plots, ax: plots.regret_curves(
        {"a": ([10, 100], [2.0, 0.5]), "b": [(10, {"regret": 0.0, "value": 3.0})]}, ax=ax
    ),
    "round_chances": lambda plots, ax: plots.round_chances(evaluated_round(), ax=ax),
    "seat_chances": lambda plots, ax: plots.seat_chances(
        {"two": Round(BOX).solve(), "three": evaluated_round()}, ax=ax
    ),
}


@pytest.fixture(scope="module")
def plots():
    """Import matplotlib, which takes a second, only where plots are tested."""
    import matplotlib as mpl

    mpl.use("Agg")
    return import_module("stb_gym.plots")


@pytest.fixture
def ax(plots):
    from matplotlib import pyplot as plt

    yield plt.subplots()[1]
    plt.close("all")


@pytest.mark.nightly
@pytest.mark.parametrize("name", DRAW)
def test_plots_are_drawn_on_given_axes_or_on_a_white_figure_of_their_own(name, plots, ax, tmp_path):
    import matplotlib as mpl

    assert DRAW[name](plots, ax) is ax
    with mpl.rc_context({"figure.facecolor": "none", "font.size": 11}):
        figure = DRAW[name](plots, None).figure
    assert figure is not ax.figure
    assert figure.get_facecolor() == (1, 1, 1, 1)
    figure.savefig(tmp_path / "plot.png")  # a warning about missing glyphs or room would be an error


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAW)
def test_plots_show_the_numbers_of_the_results(name, plots, ax, snapshot):
    """Lines differ in marker or style, so readers need no colour to distinguish them."""
    DRAW[name](plots, ax)
    lines = [
        f"{line.get_label()} {line.get_marker()} {line.get_linestyle()}\n{np.round(line.get_xydata().T, 6)}"
        for line in ax.lines
    ]
    bars = {
        label.get_text(): f"{bar.get_width():.6f}" for label, bar in zip(ax.get_yticklabels(), ax.patches, strict=False)
    }
    axes = ax.get_xlabel(), ax.get_xscale(), ax.get_ylabel(), ax.get_yscale(), bool(ax.yaxis.get_inverted())
    assert [axes, *lines, bars] == snapshot


@pytest.mark.slow
@pytest.mark.parametrize(("objective", "where"), [("score", {"open": [1, 3, 4], "roll": 4}), ("shut", {"open": [2]})])
def test_a_tree_names_every_branch_and_marks_optimal_moves(objective, where, plots, snapshot):
    """Texts neither overlap nor leave the figure."""
    ax = plots.move_tree(move_tree(best(objective), depth=2, **where))
    assert [(text.get_text(), text.get_color()) for text in ax.texts] == snapshot
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(box.overlaps(other) for place, box in enumerate(boxes) for other in boxes[:place])
    page = ax.figure.bbox
    assert all(page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1 for box in boxes)


@pytest.mark.slow
def test_a_curve_begins_after_the_first_step(plots, ax):
    """No line leads to step 0, which is infinitely far left on a logarithmic axis."""
    plots.regret_curves({"a": ([0, 10, 100], [9.0, 2.0, 0.5])}, ax=ax)
    first, *others = ax.transData.transform(ax.lines[0].get_xydata())
    assert first[0] == -np.inf  # not drawn
    assert np.isfinite(others).all()


def test_without_matplotlib_the_import_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.delitem(sys.modules, "stb_gym.plots", raising=False)
    with pytest.raises(ImportError, match=r'pip install "stb-gym\[plots\]"$'):
        import_module("stb_gym.plots")
