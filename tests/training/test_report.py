"""A report is one page that says what came out to whoever reads it, sees its pictures, or has them read aloud."""

import base64
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from stb_gym import ShutTheBox, Threes, evaluate, solve, strategies, strategy
from stb_gym.solver import objective_of
from tests import SMALL_PRESETS
from tests.twins import MostThrees
from training import plots
from training import report as reporting
from training import train as training
from training.compare import compare
from training.palette import INK, colour_of
from training.run import Run
from training.sentences import opening, task_in_words

TASK = ["--presets", str(SMALL_PRESETS), "--steps", "5000", "--measurements", "4"]
NINE = ShutTheBox()


class Elements(HTMLParser):
    """The elements of a page, each as its tag, its attributes and all text in it."""

    def __init__(self, page):
        super().__init__()
        self.all, self._open = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.all.append([tag, dict(attributes), ""])
        if tag not in ("meta", "img"):
            self._open.append(self.all[-1])

    def handle_endtag(self, tag):
        assert self._open.pop()[0] == tag

    def handle_data(self, data):
        for element in self._open:
            element[2] += data

    def of(self, tag):
        return [(attributes, text.strip()) for name, attributes, text in self.all if name == tag]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two short trainings on five tiles."""
    folder = tmp_path_factory.mktemp("runs")
    for algorithm in ("ppo", "afterstates"):
        assert training.main([algorithm, *TASK, "--tiles", "5", "--out", str(folder / algorithm)]) == 0
    return [Run.open(folder / algorithm) for algorithm in ("ppo", "afterstates")]


@pytest.fixture(scope="module")
def folder(runs, tmp_path_factory):
    """The folder of their report."""
    out = tmp_path_factory.mktemp("report")
    reporting.report(runs, out)
    return out


@pytest.fixture(scope="module")
def elements(folder):
    return Elements((folder / "report.html").read_text())


def test_it_is_one_page_that_needs_nothing_else(folder):
    assert {path.name for path in folder.iterdir()} == {"report.html", "regret.svg", "scores.svg"}
    page = (folder / "report.html").read_text()
    pictures = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert [base64.b64decode(text) for text in pictures] == [
        (folder / name).read_bytes() for name in ("regret.svg", "scores.svg")
    ]
    assert "http" not in re.sub(r"base64,[A-Za-z0-9+/=]+", "", page)
    assert len(re.findall("Played so (since [0-9,]+ steps|from the start).", page)) == page.count("It plays <b>")


def test_it_has_the_parts_of_a_page(elements):
    assert len(elements.of("main")) == len(elements.of("h1")) == 1
    [(attributes, _)] = elements.of("html")
    assert attributes["lang"] == "en"
    assert len(elements.of("caption")) == len(elements.of("table")) == 2
    assert all(text for _, text in elements.of("caption"))
    assert {attributes["scope"] for attributes, _ in elements.of("th")} == {"row", "col"}
    for attributes, _ in elements.of("div"):
        if "table" in attributes.get("class", ""):  # which is scrolled, by keyboard too, where it is too wide
            assert attributes["tabindex"] == "0"
            assert attributes["aria-label"]


def test_pictures_say_what_comes_out(runs, elements):
    alts = [attributes["alt"] for attributes, _ in elements.of("img")]
    assert len(alts) == len(elements.of("figcaption")) > 2
    assert all(alts)
    for run in runs:
        name, first, last = run.config.algorithm, run.curve()[0], run.curve()[-1]
        ends = f"{name} goes from {first.regret:.3g} points to {last.regret:.3g} points after {last.steps:,} steps"
        assert ends in alts[0]
    optimum = solve(ShutTheBox(tiles=5))
    assert (
        f"with perfect play the chance to shut is {optimum.evaluate(optimum.policy).shut_probability:.2%};" in alts[1]
    )
    random = evaluate(ShutTheBox(tiles=5), strategy(ShutTheBox(tiles=5), "random"))
    by = [
        100
        * (tail(random.score_distribution, score) - tail(optimum.evaluate(optimum.policy).score_distribution, score))
        for score in range(16)
    ]
    most = max(range(16), key=by.__getitem__)
    assert f"random is {by[most]:.3g} percentage points likelier to end with more than {most} points." in alts[1]
    for run in runs:
        assert {mistake.position for mistake in run.evaluation().mistakes(6)} <= {*alts}


def tail(distribution, score):
    """The chance of more points."""
    return sum(chance for other, chance in distribution.items() if other > score)


def test_the_opening_answers_how_close_they_come(runs, elements):
    said = elements.of("p")[1][1]
    regrets = {run.config.algorithm: run.evaluation().regret for run in runs}
    best, other = sorted(regrets, key=regrets.get)
    assert f" Of the agents {best} comes closest: it loses {regrets[best]:.3g} points, a normalised score of " in said
    assert f". {other} loses {regrets[other]:.3g} points, a normalised score of " in said
    assert said.startswith(
        f"Perfect play comes to {solve(ShutTheBox(tiles=5)).value:.3f} points a turn, random moves to "
    )
    assert elements.of("p")[0][1].endswith("A player wants the fewest points.")


@pytest.mark.parametrize(
    ("game", "goal", "wanted"),
    [
        (NINE, "score", "the fewest points"),
        (NINE, "shut", "the best chance to shut"),
        (Threes(), "shut", "the best chance of 0 points"),
        (Threes(), "at-most:5", "the best chance of at most 5 points"),
        (MostThrees(), "score", "the most points"),
        (MostThrees(), "at-least:5", "the best chance of at least 5 points"),
    ],
)
def test_what_a_player_wants_is_said_in_the_words_of_the_game(game, goal, wanted):
    assert task_in_words(game, objective_of(game, goal)).endswith(f" A player wants {wanted}.")


def test_chances_are_told_in_percent():
    best = solve(Threes(), "shut")
    agents = {"mine": best.evaluate(strategy(Threes(), "take-all"))}
    evaluations = compare(agents)
    said = opening(evaluations, list(agents))
    assert f"Perfect play comes to {best.value:.2%} a turn" in said
    assert f" mine loses {100 * evaluations['mine'].regret:.3g} percentage points, a normalised" in said


@pytest.mark.parametrize(
    ("goal", "same"),
    [("score", {"optimal", "optimal-score"}), ("shut", {"optimal", "optimal-shut"}), ("at-most:3", {"optimal"})],
)
def test_perfect_play_stands_once(goal, same):
    agents = {"mine": solve(ShutTheBox(tiles=5), goal).evaluate(strategy(ShutTheBox(tiles=5), "random"))}
    evaluations = compare(agents)
    assert {*evaluations} == {"optimum", "mine", *strategies(ShutTheBox(tiles=5))} - same
    assert evaluations["optimum"].regret == 0


def test_a_name_has_one_colour_in_both_pictures_and_on_the_page(runs, folder):
    page = (folder / "report.html").read_text()
    lines = {name: line_colours(folder / f"{name}.svg") for name in ("regret", "scores")}
    for run in runs:
        colour = colour_of(run.config.algorithm)
        assert colour in lines["regret"] & lines["scores"]
        assert re.search(
            rf'<h2 style="--colour: {colour};[^"]*"><i class="chip"></i>[\w ]* {run.config.algorithm}<', page
        )
    assert "currentColor" in lines["scores"]
    assert "#8a8a8a" in lines["scores"]
    assert "tr:nth-child(1) { --colour: var(--ink); --filling: var(--colour) }" in page
    assert INK not in page


def line_colours(path):
    """Of the lines of a picture, by their strokes."""
    return set(
        re.findall(r"stroke: (#\w{6}|currentColor)", ElementTree.tostring(ElementTree.parse(path).getroot(), "unicode"))
    )


@pytest.mark.parametrize("game", [NINE, Threes(dice=3), MostThrees()])
def test_the_area_of_the_differences_is_the_regret(game):
    optimum = solve(game)
    perfect = optimum.evaluate(optimum.policy)
    for name in ("random", "worst", "optimal-shut"):
        evaluation = optimum.evaluate(strategy(game, name))
        scores, difference, error = plots.ends_worse(evaluation, perfect)
        assert (scores[1:] > scores[:-1]).all()
        between = difference[:-1] if game.sign < 0 else difference[1:]
        assert (between * (scores[1:] - scores[:-1])).sum() == pytest.approx(evaluation.regret)
        assert not error.any()
    assert not plots.ends_worse(perfect, perfect)[1].any()


def test_scores_are_drawn_as_differences_from_the_optimum(runs, tmp_path, monkeypatch):
    drawn = {}
    monkeypatch.setattr(plots, "save", lambda path, figure: drawn.update({path.name: figure}))
    monkeypatch.setattr(reporting, "_base64", lambda data: "")
    monkeypatch.setattr(Path, "read_bytes", lambda path: b"")
    reporting.report(runs, tmp_path)
    above, below = drawn["scores.svg"].axes
    assert [line.get_label() for line in above.lines] == ["optimum", "random"]
    zero, *lines = below.lines
    assert (zero.get_color(), list(zero.get_ydata())) == (INK, [0, 0])
    assert [line.get_label() for line in lines][:2] == ["ppo", "afterstates"]
    assert "random" not in [line.get_label() for line in lines]
    for run, line in zip(runs, lines, strict=False):
        assert line.get_color() == colour_of(run.config.algorithm)
        steps = line.get_ydata()[:-1] * (line.get_xdata()[1:] - line.get_xdata()[:-1])
        assert steps.sum() == pytest.approx(run.evaluation().regret)
    dotted = [line for line in drawn["regret.svg"].axes[0].lines if line.get_linestyle() == ":"]
    assert len(dotted) >= 2
    assert {line.get_color() for line in dotted} <= {colour_of(name) for name in strategies(NINE)}


def test_runs_are_named_as_briefly_as_tells_them_apart():
    def names(*runs):
        task = SimpleNamespace(game=ShutTheBox)
        runs = [Run(Path(folder), SimpleNamespace(algorithm=algorithm, task=task)) for folder, algorithm in runs]
        return list(reporting._names(runs))

    assert names(("a/one", "ppo"), ("a/two", "dqn")) == ["ppo", "dqn"]
    assert names(("a/one", "ppo"), ("b/two", "ppo")) == ["one", "two"]
    assert names(("a/one", "ppo"), ("b/one", "ppo")) == ["a/one", "b/one"]
    assert names(("a/one", "ppo"), ("a/one", "ppo")) == ["ppo"]
    assert names(("a/random", "ppo"), ("a/optimum", "ppo")) == ["the run random", "the run optimum"]


def test_a_mistake_is_as_old_as_the_play_that_was_not_changed_since():
    assert reporting._since({0: 3, 10: 4, 20: 3, 30: 3}) == 20
    assert reporting._since({0: 3, 10: 3}) == 0
    assert reporting._since({0: 3, 10: 4}) == 10


def test_strategies_too_near_another_are_left_out_of_the_picture():
    regrets = {"random": 9.0, "perfect": 0.0, "nearly": 1.1, "good": 1.0, "bad": 8.0}
    assert list(plots._apart(regrets)) == ["good", "bad"]


def test_the_command_prints_the_table_of_the_page(runs, elements, tmp_path, capsys):
    assert reporting.main([*(str(run.folder) for run in runs), "--out", str(tmp_path)]) == 0
    printed, cells = capsys.readouterr().out, [text for _, text in elements.of("td")]
    for run in runs:
        regret = f"{json.loads((run.folder / 'result.json').read_text())['greedy']['regret']:.5f}"
        assert regret in printed
        assert regret in cells


def test_it_wants_runs_of_one_game(runs, tmp_path, capsys):
    other = tmp_path / "other"
    assert training.main(["afterstates", *TASK, "--tiles", "4", "--out", str(other)]) == 0
    capsys.readouterr()
    assert reporting.main([str(runs[0].folder), str(other)]) == 2
    assert "is not of the same game and objective" in capsys.readouterr().err
    assert reporting.main([]) == 2
    assert "name at least one run" in capsys.readouterr().err
