"""The registered games: which rules are allowed, and how games are named."""

from dataclasses import dataclass
from typing import ClassVar
from unittest.mock import patch

import pytest

from stb_gym import Game, ShutTheBox, Threes, register_game, strategies, strategy
from stb_gym.games import (
    GAMES,
    VARIANTS,
    BoxWords,
    Variant,
    Words,
    entry_of,
    follow_registrations,
    game_of,
    registry,
    rules_class_of,
    words_of,
)
from tests.twins import MostThrees


@pytest.fixture(autouse=True)
def _forget_games():
    """Forget at the end of a test which games it registered."""
    with patch.dict(GAMES), patch.dict(registry._ENTRIES), patch.object(registry, "_followers", []):
        yield


class Heads(Words):
    def state(self, held, dice):
        return f"{held} heads"


def keep_all(game, moves):
    """Keep all dice at once."""
    return -moves.action


def test_a_registered_game_is_known():
    assert "most-threes" not in GAMES
    assert (entry_of(MostThrees()).words, entry_of(MostThrees).heuristics) == (Words, {})
    register_game(
        MostThrees,
        words=Heads,
        heuristics={"keep-all": keep_all},
        variants={"two": Variant({"dice": 2}, "Two dice.")},
        environments={"MostTwo-v1": {"dice": 2, "objective": "at-least:3"}},
        reward_thresholds={"MostTwo-v1": 0.5},
    )
    assert game_of("most-threes", {"dice": 2}) == MostThrees(dice=2)
    assert words_of(MostThrees()).state(3, 1) == "3 heads"
    assert strategies(MostThrees())["keep-all"] == "Keep all dice at once."
    assert (strategy(MostThrees(dice=2), "keep-all") == strategy(Threes(dice=2), "take-all")).all()
    entry = entry_of(MostThrees)
    assert entry is entry_of(MostThrees(dice=3))
    assert (entry.rules, list(entry.variants), list(entry.environments)) == (MostThrees, ["two"], ["MostTwo-v1"])
    assert entry.reward_thresholds == {"MostTwo-v1": 0.5}


def test_the_games_of_the_package():
    assert {"shut-the-box": ShutTheBox, "threes": Threes} == GAMES
    assert type(words_of(ShutTheBox())) is BoxWords
    assert entry_of(ShutTheBox).variants is VARIANTS
    assert list(entry_of(Threes).environments) == ["Threes-v0"]


def test_registrations_are_followed():
    seen = []
    follow_registrations(lambda entry: seen.append(entry.rules))
    assert seen == [ShutTheBox, Threes]
    register_game(MostThrees)
    assert seen[2:] == [MostThrees]

    def refuse(entry):
        raise ValueError("taken")

    with pytest.raises(ValueError, match="taken"):
        follow_registrations(refuse)


def test_a_follower_may_refuse_a_game():
    def refuse(entry):
        if entry.rules is MostThrees:
            raise ValueError("taken")

    follow_registrations(refuse)
    with pytest.raises(ValueError, match="taken"):
        register_game(MostThrees)
    assert "most-threes" not in GAMES
    assert entry_of(MostThrees).environments == {}


def test_a_class_of_the_same_name_and_module_is_replaced():
    def define():
        @dataclass(frozen=True, repr=False)
        class Again(Threes):
            name: ClassVar[str] = "again"

        return Again

    for rules in (define(), define()):
        register_game(rules)
        assert game_of("again") == rules()


def test_the_name_of_another_game_is_refused():
    rules = dataclass(frozen=True)(type("Usurper", (Threes,), {"name": "threes"}))
    with pytest.raises(ValueError, match="threes"):
        register_game(rules)
    assert GAMES["threes"] is Threes
    assert entry_of(rules).words is Words


class NoDataclass(Game):
    name = "no-dataclass"


@pytest.mark.parametrize("rules", [3, "threes", Threes(), dict, NoDataclass, Words, None])
def test_rules_are_a_dataclass_of_a_game(rules):
    with pytest.raises(ValueError, match="frozen dataclass"):
        register_game(rules)


@pytest.mark.parametrize("name", ["", "Big", "two words", "under_score", "-first", "dot.", "new\nline", 3, None])
def test_names_have_small_letters_digits_and_hyphens(name):
    rules = dataclass(frozen=True)(type("Named", (Threes,), {"name": name}))
    with pytest.raises(ValueError, match="name of a game"):
        register_game(rules)


def test_rules_that_break_the_contract_are_refused_in_their_smallest_sizes():
    checked = []

    @dataclass(frozen=True, repr=False)
    class Broken(ShutTheBox):
        name: ClassVar[str] = "broken"
        one_die: str = "low-sum"

        def final_score(self, held):
            checked.append((self.tiles, self.dice, self.faces, self.one_die))
            return 0.5

    with pytest.raises(ValueError, match="final_score"):
        register_game(Broken)
    assert checked == [(1, 1, 2, "low-sum")]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"heuristics": {"keep-all": 5}}, "keep-all"),
        ({"environments": {"Most-v0": {"tiles": 3}}}, "tiles"),
        ({"environments": {"Most-v0": {"dice": 8}}}, "dice"),
    ],
)
def test_arguments_are_checked(arguments, word):
    with pytest.raises(ValueError, match=word):
        register_game(MostThrees, **arguments)
    assert "most-threes" not in GAMES


def test_games_are_given_by_name_and_fields_or_as_they_are():
    assert game_of("threes") == Threes()
    assert game_of("shut-the-box", {"tiles": 12, "open": [1, 2]}) == ShutTheBox(tiles=12, open=(1, 2))
    game = ShutTheBox(tiles=12)
    assert game_of(game) is game_of(game, {}) is game
    assert rules_class_of("threes") is rules_class_of(Threes()) is Threes


@pytest.mark.parametrize(
    ("game", "rules", "word"),
    [
        ("go", {}, "unknown game"),
        ("three", {}, "did you mean threes"),
        ("threes", {"tiles": 3}, "tiles"),
        ("threes", {"dice": 8}, "dice"),
        (Threes(), {"dice": 3}, "dice"),
    ],
)
def test_unknown_games_and_rules_are_refused(game, rules, word):
    with pytest.raises(ValueError, match=word):
        game_of(game, rules)


@pytest.mark.parametrize("game", [3, Threes, None])
def test_a_rules_class_is_of_a_name_or_a_game(game):
    for function in (rules_class_of, game_of):
        with pytest.raises(ValueError, match="a game is"):
            function(game)
