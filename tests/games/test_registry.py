"""The games that are known: what may be registered, what is refused, and how games are named."""

from dataclasses import dataclass
from typing import ClassVar

import gymnasium as gym
import pytest
from stb_gym.games.shut_the_box.words import BoxWords

import stb_gym
from stb_gym import (
    ENVIRONMENTS,
    GAMES,
    VARIANTS,
    Game,
    ShutTheBox,
    Threes,
    Words,
    environment_of,
    game_of_environment,
    register_game,
    strategies,
    strategy,
)  # fmt: skip
from stb_gym.games import Variant, entry_of, game_of, registry, words_of
from tests.twins import MostThrees


@pytest.fixture(autouse=True)
def forget_games():
    """What a test registers is forgotten after it."""
    known = GAMES, registry._ENTRIES, ENVIRONMENTS, gym.registry
    before = [each.copy() for each in known]
    yield
    for each, then in zip(known, before, strict=True):
        each.clear()
        each.update(then)


class TwoCoins(Words):
    def state(self, held, dice):
        return f"{held} heads"


def keep_all(game, moves):
    """Keep everything at once."""
    return -moves.action


def test_what_is_registered_is_known_everywhere():
    register_game(
        MostThrees,
        words=TwoCoins,
        rules_of_thumb={"keep-all": keep_all},
        variants={"two": Variant({"dice": 2}, "Two dice.")},
        environments={"MostTwo-v1": {"dice": 2, "objective": "at-least:3"}, "Most-v1": {}},
    )
    assert GAMES["most-threes"] is MostThrees
    assert game_of("most-threes", {"dice": 2}) == MostThrees(dice=2)
    assert words_of(MostThrees()).state(3, 1) == "3 heads"
    assert strategies(MostThrees())["keep-all"] == "Keep everything at once."
    assert (strategy(MostThrees(dice=2), "keep-all") == strategy(Threes(dice=2), "take-all")).all()
    entry = entry_of(MostThrees)
    assert entry is entry_of(MostThrees(dice=3))
    assert (entry.rules, list(entry.variants)) == (MostThrees, ["two"])
    env = gym.make("stb_gym/MostTwo-v1")
    assert (env.unwrapped.game, env.unwrapped.objective.name) == (MostThrees(dice=2), "at-least:3")
    assert gym.make_vec("stb_gym/Most-v1", 2, dice=3).game == MostThrees(dice=3)
    for name in ("stb_gym/MostTwo-v1", "stb_gym/MostTwoMasked-v1"):
        assert environment_of(name) == (MostThrees, {"dice": 2, "objective": "at-least:3"})
        assert gym.make(name).unwrapped.game == gym.make_vec(name).game == MostThrees(dice=2)


def test_a_game_has_one_environment_called_like_it_unless_it_says_otherwise():
    register_game(MostThrees)
    assert environment_of("stb_gym/MostThrees-v0") == (MostThrees, {})
    assert gym.make("stb_gym/MostThrees-v0", dice=2).unwrapped.game == MostThrees(dice=2)


def test_nothing_need_be_registered():
    assert "most-threes" not in GAMES
    entry = entry_of(MostThrees())
    assert (entry.rules, entry.words, entry.rules_of_thumb) == (MostThrees, Words, {})
    assert type(words_of(MostThrees())) is Words
    assert type(words_of(ShutTheBox())) is BoxWords
    assert entry_of(ShutTheBox).variants is VARIANTS
    assert list(strategies(MostThrees())) == [
        *("random", "most-ways", "optimal-score", "optimal-shut", "worst", "approximation", "optimal")
    ]


def made_anew():
    """A class of the same name in the same place, as a notebook makes it anew."""

    @dataclass(frozen=True, repr=False)
    class Again(Threes):
        name: ClassVar[str] = "again"

    return Again


def test_a_game_made_anew_takes_the_place_of_the_former():
    first, second = made_anew(), made_anew()
    for rules in (first, second):
        register_game(rules)
        assert game_of("again") == rules()
        assert type(gym.make("stb_gym/Again-v0").unwrapped.game) is rules


class NoDataclass(Game):
    name = "no-dataclass"


@dataclass(frozen=True)
class Nameless(Game):
    pass


@pytest.mark.parametrize("rules", [3, "threes", Threes(), dict, NoDataclass, Words, None])
def test_what_is_no_rules_class_is_refused(rules):
    with pytest.raises(ValueError, match=r"^rules must be a frozen dataclass that is a stb_gym.Game, not "):
        register_game(rules)


def test_a_dataclass_that_may_change_is_refused():
    thawed = dataclass(type("Thawed", (Game,), {"name": "thawed"}))
    with pytest.raises(ValueError, match=r"^rules must be a frozen dataclass, for what is made of a game is kept"):
        register_game(thawed)


@pytest.mark.parametrize("name", ["", "Big", "two words", "under_score", "-first", "dot.", "new\nline", 3, None])
def test_a_name_that_is_none_is_refused(name):
    rules = dataclass(frozen=True)(type("Named", (Threes,), {"name": name}))
    with pytest.raises(ValueError, match=r"^the name of a game has small letters, digits and hyphens only, unlike "):
        register_game(rules)
    with pytest.raises(ValueError, match=r"unlike None$"):
        register_game(Nameless)


def test_the_name_of_another_game_is_refused_and_changes_nothing():
    rules = dataclass(frozen=True)(type("Usurper", (Threes,), {"name": "threes"}))
    with pytest.raises(ValueError, match=r"^there is a game threes already: .*Threes$"):
        register_game(rules)
    assert GAMES["threes"] is Threes
    assert entry_of(rules).words is Words
    assert type(gym.make("stb_gym/Threes-v0").unwrapped.game) is Threes
    with pytest.raises(ValueError, match=r"^unknown environment 'stb_gym/Usurper-v0'"):
        environment_of("stb_gym/Usurper-v0")


def test_names_that_are_taken_are_refused_and_change_nothing():
    with pytest.raises(ValueError, match=r"^the strategy worst is every game's"):
        register_game(MostThrees, rules_of_thumb={"worst": keep_all})
    with pytest.raises(ValueError, match=r"^stb_gym/Threes-v0 is the id of an environment of threes$"):
        register_game(MostThrees, environments={"Threes-v0": {}})
    with pytest.raises(ValueError, match=r"^stb_gym/ThreesMasked-v0 is an id with the mask in .*: leave out Masked$"):
        register_game(MostThrees, environments={"ThreesMasked-v0": {}})
    assert "most-threes" not in GAMES
    assert environment_of("stb_gym/Threes-v0").rules is Threes


def test_games_are_given_by_name_and_fields_or_as_they_are():
    assert game_of("threes") == Threes()
    assert game_of("shut-the-box", {"tiles": 12, "open": [1, 2]}) == ShutTheBox(tiles=12, open=(1, 2))
    game = ShutTheBox(tiles=12)
    assert game_of(game) is game_of(game, {}) is game


@pytest.mark.parametrize(
    ("game", "rules", "message"),
    [
        ("go", {}, "unknown game 'go': allowed are shut-the-box, threes"),
        ("threes", {"tiles": 3}, "unknown rule 'tiles': allowed are dice, faces, free_face, moon"),
        ("threes", {"dice": 8}, "dice must be an integer from 1 to 7, not 8"),
        (Threes(), {"dice": 3}, r"Threes\(\) has its rules already: dice cannot be given beside it"),
        (3, {}, "a game is a rules object or one of the names shut-the-box, threes, not 3"),
        (Threes, {}, "a game is a rules object or one of the names shut-the-box, threes, not <class .*"),
        (None, {"dice": 3}, "a game is a rules object or one of the names shut-the-box, threes, not None"),
    ],
)
def test_games_that_are_none_are_refused(game, rules, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        game_of(game, rules)


def test_games_of_environments_are_read_from_the_registry(monkeypatch):
    monkeypatch.setattr(gym, "make", None)
    assert environment_of("stb_gym/ShutTheBoxShut-v0") == (ShutTheBox, {"objective": "shut"})
    assert game_of_environment("stb_gym/ShutTheBoxShut-v0") == ShutTheBox()
    assert game_of_environment("stb_gym/ShutTheBox12-v0") == ShutTheBox(tiles=12)
    assert game_of_environment("stb_gym/ShutTheBox12-v0", {"tiles": 6, "dice": 3}) == ShutTheBox(tiles=6, dice=3)
    assert game_of_environment("stb_gym:stb_gym/Threes-v0") == Threes()
    assert game_of_environment("stb_gym:stb_gym/ThreesMasked-v0", {"dice": 3}) == Threes(dice=3)
    assert environment_of("stb_gym/ShutTheBoxShutMasked-v0") == (ShutTheBox, {"objective": "shut"})


@pytest.mark.parametrize("module", ["no_such_module", "tests.games.test_registry.nothing"])
def test_a_module_that_cannot_be_imported_is_named(module):
    with pytest.raises(ValueError, match=f"^the module {module} of stb_gym/Threes-v0 cannot be imported: "):
        environment_of(f"{module}:stb_gym/Threes-v0")


def test_every_environment_is_of_the_game_that_is_told():
    for name in ENVIRONMENTS:
        assert gym.make(name).unwrapped.game == game_of_environment(name)
        objective = environment_of(name).arguments.get("objective", "score")
        assert gym.make(name).unwrapped.objective.name == objective


@pytest.mark.parametrize("name", ["CartPole-v1", "stb_gym/ShutTheBox-v9", "ShutTheBox-v0", ""])
def test_other_environments_are_refused(name):
    with pytest.raises(ValueError, match=f"^unknown environment '{name}': allowed are stb_gym/ShutTheBox-v0, "):
        environment_of(name)
    with pytest.raises(ValueError, match=r"^unknown rule 'tile': allowed are tiles, "):
        game_of_environment("stb_gym/ShutTheBox-v0", {"tile": 3})


def test_what_is_no_id_is_refused():
    with pytest.raises(ValueError, match=r"^an environment is named by its id, not by ShutTheBox\(\)$"):
        environment_of(ShutTheBox())


def test_all_public_names_are_there():
    assert all(hasattr(stb_gym, name) for name in stb_gym.__all__)
    assert sorted(set(stb_gym.__all__)) == sorted(stb_gym.__all__)
