"""The registered games: which rules are allowed, and how games are named."""

from dataclasses import dataclass, field
from typing import ClassVar

import pytest

from stb_gym import Game, ShutTheBox, Threes, register_game, strategies, strategy
from stb_gym.games import GAMES, Variant, check_game, entry_of, game_of, registry, rules_class_of
from stb_gym.words import BoxWords, Words, words_of
from tests.twins import MostThrees

pytestmark = pytest.mark.usefixtures("own_games")


class Heads(Words):
    def score(self, points):
        return f"{points} heads"


def keep_all(game, moves):
    """Keep all dice at once."""
    return -moves.action


def test_a_registered_game_is_known():
    assert [type(words_of(game)) for game in (MostThrees(), ShutTheBox())] == [Words, BoxWords]
    belongings = {
        "heuristics": {"keep-all": keep_all},
        "variants": {"two": Variant({"dice": 2}, "Two dice.")},
        "environments": {"MostTwo-v1": {"dice": 2, "objective": "at-least:3", "reward_threshold": 0.5}},
    }
    register_game(MostThrees, words=Heads, **belongings)
    assert game_of("most-threes", {"dice": 2}) == MostThrees(dice=2)
    assert entry_of(MostThrees) == entry_of(MostThrees(dice=3)) == registry.Entry(MostThrees, **belongings)
    assert words_of(MostThrees()).score(3) == "3 heads"
    assert strategies(MostThrees())["keep-all"] == "Keep all dice at once."
    assert (strategy(MostThrees(dice=2), "keep-all") == strategy(Threes(dice=2), "take-all")).all()


def named(name):
    return dataclass(frozen=True)(type("Named", (Threes,), {"name": name}))


def test_a_class_of_the_same_name_and_module_is_replaced():
    for rules in (named("again"), named("again")):
        register_game(rules)
        assert game_of("again") == rules()


@pytest.mark.parametrize(
    "name", ["threes", "", "Big", "two words", "under_score", "-first", "dot.", "new\nline", 3, None]
)
def test_a_name_is_new_and_has_small_letters_digits_and_hyphens(name):
    with pytest.raises(ValueError, match="game"):
        register_game(named(name))
    assert GAMES["threes"] is Threes


class NoDataclass(Game):
    name = "no-dataclass"


@pytest.mark.parametrize("rules", [3, "threes", Threes(), dict, NoDataclass])
def test_rules_are_a_dataclass_of_a_game(rules):
    with pytest.raises(ValueError, match="frozen dataclass"):
        register_game(rules)


def test_a_registered_class_has_all_methods_and_defaults():
    @dataclass(frozen=True, repr=False)
    class Unfinished(Game):
        name = "unfinished"

    @dataclass(frozen=True, repr=False)
    class Sized(Threes):
        name = "sized"
        sides: int = field(kw_only=True)

    with pytest.raises(ValueError, match="Unfinished must have the methods final_score, moves, observe, start"):
        register_game(Unfinished)
    with pytest.raises(ValueError, match="sides of Sized must have a default"):
        register_game(Sized)


def test_the_contract_is_checked_with_the_smallest_sizes():
    checked = []

    @dataclass(frozen=True, repr=False)
    class Broken(ShutTheBox):
        name: ClassVar[str] = "broken"
        one_die: str = "low-sum"

        def final_score(self, progress):
            checked.append(repr(self))
            return 0.5

    with pytest.raises(ValueError, match="final_score"):
        register_game(Broken)
    assert checked == ["Broken(tiles=1, dice=1, faces=2)"]


def test_rules_that_equal_others_are_checked_by_type():
    @dataclass(frozen=True)
    class Loose(Threes):
        def __post_init__(self):
            pass

    check_game(Loose(dice=1))
    with pytest.raises(ValueError, match="dice of Loose must be an integer"):
        check_game(Loose(dice=True))


@pytest.mark.parametrize(
    ("word", "arguments"),
    [
        ("tiles", {"environments": {"Most-v0": {"tiles": 3}}}),
        ("dice", {"environments": {"Most-v0": {"dice": 8}}}),
    ],
)
def test_arguments_are_checked(word, arguments):
    with pytest.raises(ValueError, match=word):
        register_game(MostThrees, **arguments)
    assert "most-threes" not in GAMES


def test_games_are_given_by_name_and_fields_or_as_they_are():
    assert game_of("shut-the-box", {"tiles": 12, "open": [1, 2]}) == ShutTheBox(tiles=12, open=(1, 2))
    game = Threes()
    assert game_of(game) is game_of(game, {}) is game
    assert rules_class_of("threes") is rules_class_of(game) is Threes


@pytest.mark.parametrize(
    ("word", "game", "rules"),
    [
        ("did you mean threes", "three", {}),
        ("tiles", "threes", {"tiles": 3}),
        ("dice", Threes(), {"dice": 3}),
        ("a game is", 3, {}),
        ("a game is", Threes, {}),
    ],
)
def test_unknown_games_and_rules_are_refused(word, game, rules):
    with pytest.raises(ValueError, match=word):
        game_of(game, rules)


@pytest.mark.parametrize("rules", [ShutTheBox, Threes])
def test_every_environment_of_the_package_has_a_reward_threshold(rules):
    """Name the environment whose row lacks one; slow tests compare the numbers with perfect play."""
    lacking = [name for name, row in entry_of(rules).environments.items() if "reward_threshold" not in row]
    assert not lacking, f"add reward_threshold, the mean reward of perfect play, to ENVIRONMENTS for {lacking}"
