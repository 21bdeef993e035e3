"""Test the words of games: positions, moves and scores, and the lines that a person types."""

import pytest

from stb_gym import ShutTheBox, Threes
from stb_gym.games.shut_the_box import board_of
from stb_gym.games.threes import MOON
from stb_gym.words import Words, words_of
from tests.twins import MostThrees

ALL, SOME = board_of(range(1, 10)), board_of([1, 4, 5, 8])
BOX = ShutTheBox()
STRICT = ShutTheBox(
    open=[1, 2, 4, 8], one_die="high-shut", one_die_forced=True, first_move=2, ending_roll=7, score="digits"
)

# Rules; positions and throws, as (progress, dice, faces).
DESCRIBED = {
    "nine tiles": (BOX, [(SOME, 2, (6, 4)), (ALL, 2, (1, 2)), (SOME, 2, (3, 4)), (0, 0, ())]),
    "sixteen tiles": (ShutTheBox(tiles=16, one_die="low-sum"), [(1 << 15 | 3, 2, (6, 6)), (3, 1, (3,))]),
    "strict": (STRICT, [(139, 2, (3, 4)), (139, 2, (2, 1)), (139, 2, (2, 2)), (136, 2, (3, 2)), (9, 1, (5,))]),
    "either": (ShutTheBox(match="one-tile", score="count", one_die="any-time"), [(SOME, 2, (1, 4)), (1, 1, (2,))]),
    "faces or sum": (ShutTheBox(open=[1, 4, 5, 8], match="faces-or-sum"), [(SOME, 2, (1, 4)), (SOME, 2, (6, 6))]),
    "two at most": (ShutTheBox(match="two-at-most"), [(ALL, 2, (4, 5))]),
    "threes": (Threes(), [(0, 5, (6, 3, 1, 3, 2)), (1, 2, (3, 4)), (9, 1, (3,)), (30, 0, ())]),
    "the moon": (Threes(dice=2, free_face=1, moon=True), [(0, 2, (6, 6)), (0, 2, (6, 5)), (MOON, 0, ())]),
    "plain": (MostThrees(dice=3), [(0, 3, (2, 1, 6)), (4, 1, (3,)), (18, 0, ())]),
}


@pytest.mark.parametrize(("game", "positions"), DESCRIBED.values(), ids=DESCRIBED)
def test_description(game, positions, snapshot):
    words = words_of(game)
    lines = [words.introduction(), words.how_to_play(), *words.notes, words.perfection]
    lines += [words.prompt, *map(str, game.position_options.items())]
    lines += [f"{words.score(points)}; {words.goal(points)}; {words.ended(points)}" for points in (0, 1, 18)]
    for progress, dice, faces in positions:
        roll = game.roll_of(faces) if faces else ()
        lines += ["", game.describe_state(progress, dice, roll), words.throw(faces), words.text(progress, dice, faces)]
        moves = game.moves((progress, dice), roll) if dice else {}
        for action in moves:
            typed = game.describe_move(action, goes_on=False)
            assert type(words) is Words or words.typed_as(action) in ("", words.understood(typed))
            brief = game.describe_move(action, False, roll)
            lines.append(f"{words.move(action)}: {game.describe_move(action)}; {brief}")
        if not any(map(words.typed_as, moves)):
            lines.append(words.no_move(progress, dice, faces))
    assert "\n".join(lines) == snapshot


def test_typed_numbers_are_sorted_and_other_text_stays():
    understood = words_of(BOX).understood
    assert {understood(typed) for typed in ("5 3", "5,3", "5 + 3", "3,  5", "shut 3,5")} == {(3, 5)}
    assert understood("3 3") == (3, 3)
    for typed in ("", "x", "3 x", "3,", "-3", "1234", "3.5"):
        assert understood(typed) == typed
