"""A person's turn in words: what is asked, what is understood, and what is said of the rules."""

import re

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes, solve
from stb_gym.terminal import play_alone
from stb_gym.terminal.dialogue import your_turn

SEED_OF_A_SEVEN = next(seed for seed in range(99) if np.random.default_rng(seed).integers(36) == 15)  # 3 + 4


def test_the_choice_of_dice_is_asked_for_until_it_is_one(monkeypatch, capsys):
    prompts, lines = [], iter(["5", "3", "1", "q"])
    monkeypatch.setattr("builtins.input", lambda prompt: prompts.append(prompt) or next(lines))
    play_alone(solve(ShutTheBox(one_die="any-time"), "score"), False, 4)  # the first roll is a 5
    assert prompts == ["Shut which tiles? ", *["Throw 1 or 2 dice next? "] * 2, "Shut which tiles? "]
    seen = capsys.readouterr().out
    assert "Type 1 or 2.\n" in seen
    assert re.search(r"dice   \d\npoints 40\n", seen)  # one die


@pytest.mark.parametrize(
    ("game", "faces", "words"),
    [
        (ShutTheBox(ending_roll=7), (3, 4), "A roll of 7 ends the turn."),
        (ShutTheBox(first_move=3), (1, 1), "The first move must shut the 3, and no tiles with it match."),
        (ShutTheBox(match="one-tile", open=(7,)), (1, 2), "No open tiles match the dice."),
        (ShutTheBox(open=(7,)), (1, 2), "No open tiles add up to 3."),
    ],
)
def test_why_a_turn_ends(game, faces, words, capsys):
    your_turn(game, None, iter([faces]))
    assert words in capsys.readouterr().out


@pytest.mark.parametrize(
    ("match", "wanted"),
    [
        ("two-at-most", "one open tile or two that add up to 7"),
        ("one-tile", "one open tile, that of a die or of their sum"),
        ("faces-or-sum", "the open tiles of all dice, or that of their sum"),
    ],
)
def test_what_may_be_typed_depends_on_the_rules(match, wanted, monkeypatch, capsys):
    lines = iter(["1,2,3", "q"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    monkeypatch.setattr(
        "stb_gym.terminal.playing._dice", lambda seed: lambda players: [np.random.default_rng(SEED_OF_A_SEVEN)]
    )
    play_alone(solve(ShutTheBox(match=match), "score"), False, None)
    assert f"Type {wanted}. ?" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("game", "words"),
    [
        (ShutTheBox(one_die="low-sum"), "you may throw one die while the open tiles add up to no more than a die has"),
        (
            ShutTheBox(one_die="any-time", one_die_forced=True),
            "After the first throw you must throw one die at any time.",
        ),
        (ShutTheBox(first_move=3, ending_roll=7), "The first move must shut the 3.\nA roll of 7 ends the turn.\n"),
        (
            ShutTheBox(match="two-at-most", score="digits"),
            "Shut one open tile or two that add up to the roll; the number read",
        ),
        (
            Threes(moon=True, free_face=1),
            "a 1 counts nothing.\nA first throw of nothing but 6 is the moon, better than 0.",
        ),
        (Threes(free_face=0), "until none is left.\nType"),
    ],
    ids=str,
)
def test_the_rules_of_a_variant_are_said_first(game, words, monkeypatch, capsys):
    def leave(prompt):
        raise EOFError

    monkeypatch.setattr("builtins.input", leave)
    play_alone(solve(game), False, 1)
    assert words in capsys.readouterr().out
