"""Where the regret lies: the shares, the picture, and whose policies can be looked at."""

import math

import numpy as np
import pytest

import stb_gym
from stb_gym import ShutTheBox, Threes
from tests import SMALL_PRESETS
from training import mistakes as looking
from training import train as training
from training.mistakes import GROUPS, Mistakes, evaluations_of, mistakes_table, plot_mistakes
from training.palette import colour_of

NINE = ("ppo-nine-tiles", "dqn-nine-tiles")


@pytest.fixture
def drawn(monkeypatch):
    """What is drawn: the axes of the last picture."""
    figures, save = [], looking.save
    monkeypatch.setattr(looking, "save", lambda path, figure: figures.append(figure) or save(path, figure))

    def axes(evaluations, path):
        plot_mistakes(path, evaluations)
        return figures[-1].axes

    return axes


def points(axes):
    """[M, 2] where the points of a panel are, and [M] their areas."""
    [collection] = axes.collections
    return np.asarray(collection.get_offsets()), collection.get_sizes()


def rows_of(table):
    return [*zip(*(column.values for column in table.columns.values()), strict=True)]


def test_choices_are_grouped_by_what_they_lose_and_how_often_they_are_met():
    found = Mistakes(np.array([5e-4, 0.1, 5e-4, 0.1]), np.array([0.2, 0.01, 2.0, 0.1]), near=0.3)
    cost = np.array([1e-4, 1e-3, 1e-3, 1e-2])
    assert found.shares == pytest.approx(cost / cost.sum())
    assert found.by_group() == pytest.approx([cost[0], cost[1] + cost[3], cost[2], 0] / cost.sum())
    assert found._replace(near=0.05).by_group() == pytest.approx([0, cost[1], cost[0] + cost[2], cost[3]] / cost.sum())


def test_the_table_tells_what_the_dearest_mistakes_add_up_to():
    """The second opinion: one mistake at a time."""
    table = mistakes_table(evaluations_of(NINE))
    assert list(table.columns) == ["policy", "regret", "mistakes", *GROUPS]
    for (name, regret, number, *shares), policy in zip(rows_of(table), NINE, strict=True):
        evaluation = stb_gym.evaluate(ShutTheBox(), stb_gym.load_policy(policy, ShutTheBox()))
        assert (name, regret, number) == (policy, evaluation.regret, len(evaluation.mistakes()))
        random = stb_gym.evaluate(ShutTheBox(), stb_gym.strategy(ShutTheBox(), "random"))
        sums = dict.fromkeys(GROUPS, 0.0)
        for mistake in evaluation.mistakes():
            how = "near tie" if mistake.loss < random.regret / 100 else "clear"
            sums[f"{how}, {'often' if mistake.visits >= 1 / 1000 else 'rare'}"] += mistake.cost / regret
        assert shares == pytest.approx(list(sums.values()))
        assert sum(shares) == pytest.approx(1)
    assert sum(share > 0.05 for _, _, _, *shares in rows_of(table) for share in shares) >= 3  # of several groups


def test_every_panel_shows_the_choices_that_lose_something(drawn, tmp_path):
    stb_gym.save_policy(tmp_path / "mine.npz", ShutTheBox(), stb_gym.strategy(ShutTheBox(), "biggest-first"))
    evaluations = evaluations_of((*NINE, str(tmp_path / "mine.npz")))
    panels = drawn(evaluations, tmp_path / "picture.png")
    assert len(panels) == len(evaluations) == 3
    assert (tmp_path / "picture.png").read_bytes()[:4] == b"\x89PNG"
    for axes, (name, evaluation) in zip(panels, evaluations.items(), strict=True):
        places, areas = points(axes)
        dearest = [it for it in evaluation.mistakes() if it.cost >= 1e-4 * evaluation.regret]
        expected = sorted((it.visits, it.loss) for it in dearest)
        assert np.array(sorted(map(tuple, places))) == pytest.approx(np.array(expected))
        assert areas / areas.sum() == pytest.approx(places.prod(axis=1) / places.prod(axis=1).sum())
        assert name in axes.get_title()
        assert f"{evaluation.regret:.2g}" in axes.get_title()
        assert (np.round(axes.collections[0].get_facecolor()[0, :3] * 255) == rgb(colour_of(name))).all()


def rgb(colour):
    return [int(colour[place : place + 2], 16) for place in (1, 3, 5)]


def test_all_points_are_inside_the_axes_which_all_panels_share(drawn, tmp_path):
    panels = drawn(evaluations_of(NINE), tmp_path / "picture.png")
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in panels}) == 1
    for axes in panels:
        places, _ = points(axes)
        low, high = np.transpose([axes.get_xlim(), axes.get_ylim()])
        assert (low < places).all()
        assert (places < high).all()
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


def test_grey_lines_join_equal_contributions_which_they_name(drawn, tmp_path):
    axes, _ = drawn(evaluations_of(NINE), tmp_path / "picture.png")
    *equal, rare, near = axes.lines
    assert len(equal) >= 4
    for line in equal:
        cost = line.get_xdata() * line.get_ydata()
        assert cost[0] == pytest.approx(cost[1])
        exponent = round(math.log10(cost[0]))
        assert cost[0] == pytest.approx(10.0**exponent)
        [name] = [text for text in axes.texts if text.get_text() == f"$10^{{{exponent}}}$"]
        assert math.prod(name.xy) == pytest.approx(cost[0])
    assert list(rare.get_xdata()) == [0.001] * 2
    random = stb_gym.evaluate(ShutTheBox(), stb_gym.strategy(ShutTheBox(), "random"))
    assert near.get_ydata() == pytest.approx([random.regret / 100] * 2)


def test_the_shares_stand_in_their_corners(drawn, tmp_path):
    evaluations = evaluations_of(NINE)
    for axes, evaluation in zip(drawn(evaluations, tmp_path / "picture.png"), evaluations.values(), strict=True):
        shares = dict(zip(GROUPS, Mistakes.of(evaluation).by_group(), strict=True))
        for name, share in shares.items():
            [text] = [text for text in axes.texts if text.get_text().endswith(name)]
            assert text.get_text() == f"{share:.0%} {name}"
            assert (text.xy[0] > 0.5, text.xy[1] > 0.5) == ("often" in name, "clear" in name)


def test_a_perfect_player_has_no_points(drawn, tmp_path):
    game = ShutTheBox(tiles=5)
    stb_gym.save_policy(tmp_path / "best.npz", game, stb_gym.solve(game).policy)
    evaluations = evaluations_of((str(tmp_path / "best.npz"),))
    assert rows_of(mistakes_table(evaluations)) == [("best", 0.0, 0, 0.0, 0.0, 0.0, 0.0)]
    [axes] = drawn(evaluations, tmp_path / "picture.png")
    assert len(points(axes)[1]) == 0


def test_illegal_choices_lose_too(tmp_path):
    game = ShutTheBox(tiles=5)
    stb_gym.save_policy(
        tmp_path / "ends.npz", game, np.zeros(stb_gym.solver.compile_game(game).nodes, int), illegal="end"
    )
    [evaluation] = evaluations_of((str(tmp_path / "ends.npz"),)).values()
    assert evaluation.illegal_mass > 0.5
    assert Mistakes.of(evaluation).loss.max() > 5


def test_runs_files_and_kept_policies_stand_side_by_side(tmp_path, capsys):
    run, file = tmp_path / "afterstates-0", tmp_path / "mine.npz"
    task = ["--presets", str(SMALL_PRESETS), "--tiles", "5", "--steps", "2000"]
    assert training.main(["afterstates", *task, "--out", str(run)]) == 0
    game = ShutTheBox(tiles=5)
    stb_gym.save_policy(file, game, stb_gym.strategy(game, "biggest-first"))
    assert looking.main([str(run), str(file), "--out", str(tmp_path / "new" / "picture.png")]) == 0
    assert (tmp_path / "new" / "picture.png").exists()
    heading, first, second = capsys.readouterr().out.splitlines()
    assert heading.split("  ")[0] == "policy"
    assert [first.split()[0], second.split()[0]] == ["afterstates-0", "mine"]
    assert second.split()[1] == f"{stb_gym.evaluate(game, stb_gym.strategy(game, 'biggest-first')).regret:.6f}"


def test_two_of_a_name_are_told_apart_by_their_paths(tmp_path):
    game, paths = Threes(dice=2), []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        paths.append(str(tmp_path / folder / "mine.npz"))
        stb_gym.save_policy(paths[-1], game, stb_gym.strategy(game, "take-all"))
    assert list(evaluations_of(tuple(paths))) == paths
    assert list(evaluations_of(tuple(paths[:1]))) == ["mine"]


@pytest.mark.parametrize(
    ("policies", "message"),
    [
        ([], "name at least one policy"),
        (["ppo-nine-tiles", "ppo-threes"], "ppo-threes is not of the same game and objective as ppo-nine-tiles"),
        (["ppo-nine-tiles", "ppo-nine-tiles-shut"], "ppo-nine-tiles-shut is not of the same game and objective"),
        (["ppo-ten-tiles"], "there is no policy file ppo-ten-tiles"),
        (["FOLDER"], "there is no policy file"),
    ],
)
def test_what_cannot_be_looked_at_is_named_in_a_line(policies, message, tmp_path, capsys):
    words = [str(tmp_path) if policy == "FOLDER" else policy for policy in policies]
    assert looking.main([*words, "--out", str(tmp_path / "picture.png")]) == 2
    assert not (tmp_path / "picture.png").exists()
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("training.mistakes: ")
    assert message in line
