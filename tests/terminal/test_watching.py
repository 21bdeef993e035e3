"""Test turns of strategies and policies: choices, given dice, printed lines and films."""

import numpy as np
import pytest
from PIL import Image, ImageSequence

from stb_gym import ShutTheBox, Threes, strategies, strategy
from stb_gym.console import GREEN
from stb_gym.large import solve_large
from stb_gym.rounds import Round
from stb_gym.terminal import (
    chooser,
    coach_alone,
    frames,
    play,
    play_together,
    replay,
    show,
    write_film,
)

NINE, THREES = ShutTheBox(), Threes()
NARRATED = [8, 10, 6, 11, 3, 7]


def random(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.slow
@pytest.mark.parametrize("game", [ShutTheBox(tiles=6, one_die="any-time"), Threes(dice=3)], ids=str)
def test_a_strategy_chooses_as_its_policy_does(game, solved):
    coach, tables = coach_alone(solved(game)), solved(game).tables
    for name in sorted({*strategies(game)} - {"random"}):
        policy = strategy(game, name)
        for seed in range(10):
            for state, move in play(name, coach, chooser(coach, name, random()), random(seed)).steps:
                index = tables.find_state(state.progress, state.dice, state.roll)
                assert (move.action if move else None) == (policy[index] if state.moves else None)


@pytest.mark.slow
def test_a_box_too_large_for_tables_is_played_by_every_strategy_it_has():
    coach, lost = coach_alone(solve_large(ShutTheBox(tiles=16, dice=3))), []
    for name in ("optimal", "optimal-score", "biggest-first", "random", "worst"):
        lost.append(-coach.account(play(name, coach, chooser(coach, name, random()), random(2)).steps).total("choices"))
    assert lost[0] == lost[1] == 0 < lost[2] < min(lost[3:])
    with pytest.raises(ValueError, match="approximation"):
        chooser(coach, "approximation", random())


def test_the_lines_of_a_round(capsys, snapshot):
    players = [("a", "random"), ("a", "optimal"), ("take-all", strategy(Threes(dice=2), "take-all"))]
    for turn in play_together(Round(Threes(dice=2), 3, "all-win", shut_wins=True), players, [1, 2, 3]):
        show(turn)
    seen = capsys.readouterr().out
    assert seen == snapshot
    assert max(map(len, seen.splitlines())) <= 80


@pytest.mark.slow
def test_a_film_has_a_picture_of_every_throw_every_move_and_the_end(solved, tmp_path):
    coach = coach_alone(solved(NINE))
    turn = play("random", coach, chooser(coach, "random", random(1)), random(3))
    film = list(frames(turn))
    assert len(film) == len(turn.steps) + sum(step.move is not None for step in turn.steps) + 1
    assert len({frame.picture.shape for frame in film}) == 1
    assert len({frame.picture.tobytes() for frame in film}) == len(film)
    write_film(tmp_path / "film.gif", film)
    with Image.open(tmp_path / "film.gif") as gif:
        assert (gif.format, gif.info["loop"]) == ("GIF", 0)
        shown = [(np.array(each.convert("RGB")), each.info["duration"]) for each in ImageSequence.Iterator(gif)]
    for (picture, milliseconds), frame in zip(shown, film, strict=True):
        assert milliseconds == round(1000 * frame.seconds)
        assert abs(picture.astype(int) - frame.picture).mean() < 1
    with pytest.raises(ValueError, match="mp4"):
        write_film(tmp_path / "film.mp4", film)
    assert [path.name for path in tmp_path.iterdir()] == ["film.gif"]


# Given dice


def test_a_narrated_turn_of_perfect_play_shuts_the_box():
    turn = replay(NINE, "optimal", NARRATED)
    assert turn["roll"] == list(map(str, NARRATED))
    assert turn["plays"] == turn["best"] == ["shut 8", "shut 1,9", "shut 6", "shut 4,7", "shut 3", "shut 2,5"]
    assert turn["leaves"][-2:] == ["open 2,5", "open none"]
    assert turn["loss"] == [0] * 6
    assert sum(turn["luck"]) == pytest.approx(11.157508, abs=1e-6)  # from the value of the start to 0 points
    assert turn["value"] == pytest.approx([9.240806, 8.203312, 7.567773, 5.836077, 5.200617, 0], abs=1e-6)


def test_the_turn_ends_at_a_throw_without_a_move():
    turn = replay(ShutTheBox(open=(1, 2)), "optimal", [[6, 6]])
    luck = pytest.approx(turn["luck"][0])
    assert [column[0] for column in turn.values()] == ["12", "no move", "open 1,2", "no move", 0, luck, 3]


@pytest.mark.parametrize(
    ("game", "given", "fault"),
    [
        (NINE, [8, 13], "open 1,2,3,4,5,6,7,9: .* from 2 to 12, not 13"),
        (NINE, [[7, 1]], "from 1 to 6, not 7"),
        (ShutTheBox(match="faces-or-sum"), [8], "name all dice"),
        (THREES, [[6, 4, 4, 1, 1], [1, 5]], "1 point, 4 dice left: roll must have 4 dice there, not 2"),
        (NINE, NARRATED[:4], "goes on at open 2,3,5 after 4 of 4"),
        (THREES, [], "goes on at 0 points, 5 dice left after 0 of 0"),
        (NINE, [*NARRATED, 2, 3], "over after 6 of 8"),
    ],
)
def test_impossible_too_few_and_too_many_rolls_are_refused(game, given, fault):
    with pytest.raises(ValueError, match=fault):
        replay(game, "optimal", given)


def test_a_terminal_shows_dice_and_colours(solved, capsys, monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    coach = coach_alone(solved(THREES))
    turn = play("take-all", coach, chooser(coach, "take-all", random()), [[6, 4, 4, 1, 3]])
    show(turn)
    plain = capsys.readouterr().out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    show(turn)
    seen = capsys.readouterr().out
    assert not set("●\x1b") & set(plain)
    assert seen.count("●") == 18
    assert "\x1b[31mkeep 5" in seen
    [(state, _)] = turn.steps
    assert coach.colour(state, coach.choice(state).best[0]) == GREEN
    assert coach.colour(state._replace(moves=[]), None) == ""
