"""Plots show the numbers of the results, on the axes they are given."""

import sys
from functools import cache
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

import stb_gym
from stb_gym.rounds import Round
from stb_gym.solver import move_tree
from tests import every

BOX, THREES = stb_gym.ShutTheBox(tiles=6), stb_gym.Threes(dice=3)
CURVES = {"a": ([10, 100, 1000], [2.0, 0.5, 0.1]), "b": ([10, 100], [1.0, 0.0])}


@cache
def results():
    """Return the results to draw."""
    best, shut = stb_gym.solve(BOX), stb_gym.solve(BOX, "shut")
    random, perfect = (best.evaluate(policy) for policy in (stb_gym.strategy(BOX, "random"), best.policy))
    return SimpleNamespace(
        best=best,
        shut=shut,
        threes=stb_gym.solve(THREES),
        random=random,
        perfect=perfect,
        best_for_shut=shut.evaluate(best.policy),
        evaluations={"optimal": perfect, "random": random},
        round=Round(THREES, players=3).solve(),
        lineup=Round(BOX, players=3).evaluate(["optimal", "random", "biggest-first"]),
        tree=move_tree(best, depth=2, open=[1, 3, 4, 6], roll=7),
        tree_of_one=move_tree(shut, open=[2], roll=2),
    )


DRAW = {
    "state_values": lambda plots, ax: plots.state_values(results().threes, ax=ax),
    "score_distribution": lambda plots, ax: plots.score_distribution(results().evaluations, ax=ax),
    "cumulative": lambda plots, ax: plots.score_distribution(results().evaluations, cumulative=True, ax=ax),
    "departures": lambda plots, ax: plots.departures(results().random, ax=ax),
    "regret_curves": lambda plots, ax: plots.regret_curves(CURVES, ax=ax),
    "round_chances": lambda plots, ax: plots.round_chances(results().lineup, ax=ax),
    "seat_chances": lambda plots, ax: plots.seat_chances({"round": results().round, "lineup": results().lineup}, ax=ax),
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


def lines(ax):
    """Return the data of the lines by their labels."""
    return {line.get_label(): tuple(axis.tolist() for axis in map(np.array, line.get_data())) for line in ax.lines}


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


@pytest.mark.parametrize("name", every(4, [name for name in DRAW if name != "departures"], pytest.mark.slow))
def test_series_are_told_apart_without_colour(name, plots, ax):
    looks = [(line.get_marker(), line.get_linestyle()) for line in DRAW[name](plots, ax).lines]
    assert len(looks) == len(set(looks)) > 1


@pytest.mark.parametrize("name", ["best", "shut", "threes"])
def test_state_values_are_those_of_the_solution(name, plots, ax):
    solution = getattr(results(), name)
    tables = solution.tables
    where = tables.final_score > 9
    plots.state_values(solution, ax=ax)
    plots.state_values(solution, x=np.full(tables.states, -1), where=where, ax=ax)
    drawn = sorted(map(tuple, np.concatenate([line.get_xydata() for line in ax.lines]).tolist()))
    values = solution.state_value.tolist()
    chosen = [(-1, value) for value in solution.state_value[where].tolist()]
    assert drawn == sorted([*zip(tables.final_score.tolist(), values, strict=True), *chosen])
    assert solution.objective.unit in ax.get_ylabel()


def test_probabilities_of_scores(plots, ax):
    plots.score_distribution(results().evaluations, ax=ax)
    for name, evaluation in results().evaluations.items():
        scores, chances = lines(ax)[name]
        assert scores == sorted(scores)
        assert {s: p for s, p in zip(scores, chances, strict=True) if p} == evaluation.score_distribution
    ax.clear()
    sums = lines(plots.score_distribution({"random": results().random}, cumulative=True, ax=ax))["random"]
    assert sums == (scores, pytest.approx(np.cumsum(chances)))


@pytest.mark.parametrize("name", ["random", "best_for_shut", "perfect"])
def test_departures_are_the_costliest_first(name, plots, ax):
    evaluation = getattr(results(), name)
    plots.departures(evaluation, limit=3, ax=ax)
    rows = evaluation.departures()
    assert [bar.get_width() for bar in ax.patches] == rows["loss"][:3]
    assert ax.yaxis.get_inverted()  # the first bar is at the top
    for place, label in enumerate(ax.get_yticklabels()):
        assert all(rows[word][place] in label.get_text() for word in ("state", "roll", "plays", "best"))
    assert evaluation.optimum.objective.unit in ax.get_xlabel()


def branches(branch):
    return [branch, *(other for below in branch.branches for other in branches(below))]


@pytest.mark.parametrize("name", ["tree", "tree_of_one"])
def test_a_tree_names_every_branch_and_marks_optimal_moves(name, plots):
    """Texts neither overlap nor leave the figure."""
    tree = getattr(results(), name)
    ax = plots.move_tree(tree)
    for branch, text in zip(branches(tree), ax.texts, strict=True):
        words = text.get_text()
        assert all(word in words for word in (branch.label, branch.state, f"{branch.value:.6g}"))
        assert ("loss" in words) == bool(branch.loss)
        assert branch.loss is None or (text.get_color() == plots.COLOURS[0]) == (branch.loss == 0)
    assert any(branch.loss for branch in branches(tree)) == (name == "tree")
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(box.overlaps(other) for place, box in enumerate(boxes) for other in boxes[:place])
    page = ax.figure.bbox
    assert all(page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1 for box in boxes)


def test_regrets_are_drawn_on_logarithmic_axes(plots, ax):
    assert lines(plots.regret_curves(CURVES, ax=ax)) == CURVES
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_chances_of_leads_and_seats(plots, ax):
    lineup, of_round = results().lineup, results().round
    leads = lineup.rules.standings.scores.tolist()
    expected = {str(after): (leads, lineup.survival[after].tolist()) for after in (1, 2)}
    assert lines(plots.round_chances(lineup, ax=ax)) == expected
    ax.clear()
    plots.seat_chances({"threes": of_round, "box": lineup}, ax=ax)
    assert lines(ax) == {"threes": ([1, 2, 3], of_round.seats.tolist()), "box": ([1, 2, 3], lineup.seats.tolist())}


def test_without_matplotlib_the_import_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.delitem(sys.modules, "stb_gym.plots", raising=False)
    with pytest.raises(ImportError, match=r'pip install "stb-gym\[plots\]"$'):
        import_module("stb_gym.plots")
