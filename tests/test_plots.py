"""Plots show the numbers of the results, on the axes they are given."""

import sys
from importlib import import_module

import matplotlib as mpl
import numpy as np
import pytest

import stb_gym

mpl.use("Agg")

from matplotlib import pyplot as plt

from stb_gym import plots

BOX, THREES = stb_gym.ShutTheBox(tiles=6), stb_gym.Threes(dice=3)
BEST = {game.name: stb_gym.solve(game) for game in (BOX, THREES)}
SHUT = stb_gym.solve(BOX, "shut")
RANDOM = stb_gym.evaluate(BOX, stb_gym.strategy(BOX, "random"))
EVALUATIONS = {"optimal": BEST[BOX.name].evaluate(BEST[BOX.name].policy), "random": RANDOM}
ROUND = stb_gym.Round(THREES, players=3).solve()
LINEUP = stb_gym.Round(BOX, players=3).evaluate(["optimal", "random", "biggest-first"])
TREE = stb_gym.move_tree(BEST[BOX.name], depth=2, open=[1, 3, 4, 6], roll=7)
CURVES = {"a": ([10, 100, 1000], [2.0, 0.5, 0.1]), "b": ([10, 100], [1.0, 0.0])}

DRAW = {
    "state_values": lambda ax: plots.state_values(BEST[THREES.name], ax=ax),
    "score_distribution": lambda ax: plots.score_distribution(EVALUATIONS, ax=ax),
    "departures": lambda ax: plots.departures(RANDOM, ax=ax),
    "move_tree": lambda ax: plots.move_tree(TREE, ax=ax),
    "regret_curves": lambda ax: plots.regret_curves(CURVES, ax=ax),
    "round_chances": lambda ax: plots.round_chances(LINEUP, ax=ax),
    "seat_chances": lambda ax: plots.seat_chances({"round": ROUND}, ax=ax),
}


@pytest.fixture
def ax():
    yield plt.subplots()[1]
    plt.close("all")


def lines(ax):
    """The data of the lines by their labels."""
    return {line.get_label(): tuple(np.asarray(data, float) for data in line.get_data()) for line in ax.get_lines()}


def points(ax):
    return sorted(map(tuple, np.concatenate([part.get_offsets() for part in ax.collections]).tolist()))


@pytest.mark.parametrize("name", DRAW)
def test_plots_are_drawn_on_the_axes_that_are_passed(name, ax):
    figures = plt.get_fignums()
    assert DRAW[name](ax) is ax
    assert plt.get_fignums() == figures


@pytest.mark.parametrize("name", DRAW)
def test_without_axes_a_white_figure_is_created_and_no_setting_changed(name, ax, tmp_path):
    with mpl.rc_context({"figure.facecolor": "none", "font.size": 11}):
        before = dict(mpl.rcParams)
        figure = DRAW[name](None).figure
        assert dict(mpl.rcParams) == before
    assert figure is not ax.figure
    assert figure.get_facecolor() == (1, 1, 1, 1)
    figure.savefig(tmp_path / "plot.png")  # a warning about missing glyphs or room would be an error


@pytest.mark.parametrize("solution", [*BEST.values(), SHUT], ids=str)
def test_state_values_are_those_of_the_solution(solution, ax):
    plots.state_values(solution, ax=ax)
    values = solution.state_value.tolist()
    assert points(ax) == sorted(zip(solution.tables.final_score.tolist(), values, strict=True))
    assert solution.objective.unit in ax.get_ylabel()


def test_state_values_of_some_states_against_other_numbers(ax):
    solution = BEST[BOX.name]
    x, where = np.arange(solution.tables.states) / 2, solution.tables.final_score > 9
    plots.state_values(solution, x=x, where=where, ax=ax)
    assert points(ax) == list(zip(x[where].tolist(), solution.state_value[where].tolist(), strict=True))


def test_dice_of_states_are_told_apart_without_colour(ax):
    plots.state_values(BEST[THREES.name], ax=ax)
    shapes = {part.get_label(): part.get_paths()[0].vertices.tobytes() for part in ax.collections}
    assert len(shapes) == len(set(shapes.values())) == 4  # 3, 2, 1 dice, none


def test_probabilities_of_scores(ax):
    plots.score_distribution(EVALUATIONS, ax=ax)
    for name, evaluation in EVALUATIONS.items():
        scores, chances = lines(ax)[name]
        assert (np.diff(scores) > 0).all()
        assert {s: p for s, p in zip(scores, chances, strict=True) if p} == evaluation.score_distribution


def test_cumulative_probabilities_of_scores(ax):
    plots.score_distribution(EVALUATIONS, cumulative=True, ax=ax)
    for name, evaluation in EVALUATIONS.items():
        for score, chance in zip(*lines(ax)[name], strict=True):
            at_most = sum(p for other, p in evaluation.score_distribution.items() if other <= score)
            assert chance == pytest.approx(at_most)


def test_scores_that_one_policy_alone_makes_have_no_probability_for_others(ax):
    class Made:
        def __init__(self, score_distribution):
            self.score_distribution = score_distribution

    plots.score_distribution({"a": Made({17: 0.5, 2: 0.5}), "b": Made({9: 1.0})}, ax=ax)
    drawn = {name: [axis.tolist() for axis in data] for name, data in lines(ax).items()}
    assert drawn == {"a": [[2, 9, 17], [0.5, 0, 0.5]], "b": [[2, 9, 17], [0, 1, 0]]}


@pytest.mark.parametrize("evaluation", [RANDOM, SHUT.evaluate(BEST[BOX.name].policy)], ids=str)
def test_departures_are_the_costliest_first(evaluation, ax):
    plots.departures(evaluation, limit=3, ax=ax)
    rows = evaluation.departures()
    assert [bar.get_width() for bar in ax.patches] == rows["loss"][:3]
    assert ax.yaxis.get_inverted()  # the first bar is at the top
    for place, label in enumerate(ax.get_yticklabels()):
        assert all(rows[word][place] in label.get_text() for word in ("state", "roll", "plays", "best"))
    assert evaluation.optimum.objective.unit in ax.get_xlabel()


def test_an_optimal_policy_has_no_departures_to_draw(ax):
    assert not plots.departures(EVALUATIONS["optimal"], ax=ax).patches


def branches(branch):
    return [branch, *(each for below in branch.branches for each in branches(below))]


def test_a_tree_names_every_branch_and_marks_optimal_moves(ax):
    plots.move_tree(TREE, ax=ax)
    for branch, text in zip(branches(TREE), ax.texts, strict=True):
        words = text.get_text()
        assert branch.label in words
        assert branch.state in words
        assert f"{branch.value:.4g}" in words
        assert ("loss" in words) == bool(branch.loss)
        if branch.loss is not None:
            assert (text.get_color() == plots.COLOURS[0]) == (branch.loss == 0)
    dashed = [line for line in ax.get_lines() if line.get_linestyle() == "--"]
    assert len(dashed) == sum(bool(branch.loss) for branch in branches(TREE)) > 0


@pytest.mark.parametrize(
    "tree", [TREE, stb_gym.move_tree(BEST[THREES.name], roll=[3, 1, 6]), stb_gym.move_tree(SHUT, open=[2], roll=2)]
)
@pytest.mark.parametrize("own", [True, False])
def test_texts_of_a_tree_neither_overlap_nor_leave_the_figure(tree, own, ax):
    drawn = plots.move_tree(tree, ax=ax if own else None)
    boxes = [text.get_window_extent() for text in drawn.texts]
    assert not any(box.overlaps(other) for place, box in enumerate(boxes) for other in boxes[:place])
    page = drawn.figure.bbox
    assert all(page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1 for box in boxes)


def test_regrets_are_drawn_on_logarithmic_axes(ax):
    plots.regret_curves(CURVES, ax=ax)
    assert {name: tuple(axis.tolist() for axis in data) for name, data in lines(ax).items()} == CURVES
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


@pytest.mark.parametrize("played", [ROUND, LINEUP], ids=str)
def test_chances_of_leads(played, ax):
    plots.round_chances(played, ax=ax)
    drawn = lines(ax)
    assert len(drawn) == 2
    for after, (leads, chances) in enumerate(drawn.values(), 1):
        assert leads.tolist() == played.leads()["lead"]
        assert chances.tolist() == played.leads()[f"{after} after"]


def test_chances_of_seats(ax):
    plots.seat_chances({"threes": ROUND, "box": LINEUP}, ax=ax)
    for name, played in {"threes": ROUND, "box": LINEUP}.items():
        seats, wins = lines(ax)[name]
        assert seats.tolist() == [1, 2, 3]
        assert wins.tolist() == played.seats.tolist()


@pytest.mark.parametrize("name", ["score_distribution", "regret_curves", "round_chances"])
def test_lines_are_told_apart_without_colour(name, ax):
    looks = [(line.get_marker(), line.get_linestyle()) for line in DRAW[name](ax).get_lines()]
    assert len(looks) == len(set(looks)) > 1


def test_steps_are_told_apart_without_colour(ax):
    plots.score_distribution(EVALUATIONS, cumulative=True, ax=ax)
    assert len({line.get_linestyle() for line in ax.get_lines()}) == len(EVALUATIONS)


def test_the_package_imports_plots_when_asked_for():
    assert stb_gym.__getattr__("plots") is plots


def test_without_matplotlib_the_import_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.delitem(sys.modules, "stb_gym.plots")
    with pytest.raises(ImportError, match=r'^.*pip install "stb-gym\[plots\]"$'):
        import_module("stb_gym.plots")
