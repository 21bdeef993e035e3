"""The games: their rules, and how they are described and drawn.

- `game`: what a game is, fields of rules, and checks of arguments.
- `shut_the_box`, `threes`: the rules, heuristics and ids of each game.
- `text`, `drawing`: positions, moves and scores for people; `registry`: the registered games.
"""

from stb_gym.games import shut_the_box, threes
from stb_gym.games.drawing import Picture, below, drawn_dice, needed
from stb_gym.games.game import (
    ILLEGAL, FloatArray, Game, Heuristic, IntArray, Moves, Roll, Rolls, Afterstate, Variant, all_rules, cached_arrays,
    check_bool, check_chances, check_choice, check_game, check_integer, check_names, fits, freeze, integers, listed,
    make_game, meant, own_rules, rolls, rule, rules_of, throw_faces, title, walk,
)  # fmt: skip
from stb_gym.games.registry import (
    GAMES, Entry, entry_of, follow_registrations, game_of, register_game, rules_class_of, words_of,
)  # fmt: skip
from stb_gym.games.shut_the_box import VARIANTS, ShutTheBox, open_tiles
from stb_gym.games.text import BoxWords, ThreesWords, Words, dice_in_words
from stb_gym.games.threes import Threes

__all__ = [
    "GAMES",
    "ILLEGAL",
    "VARIANTS",
    "Afterstate",
    "Entry",
    "FloatArray",
    "Game",
    "Heuristic",
    "IntArray",
    "Moves",
    "Picture",
    "Roll",
    "Rolls",
    "ShutTheBox",
    "Threes",
    "Variant",
    "Words",
    "all_rules",
    "below",
    "cached_arrays",
    "check_bool",
    "check_chances",
    "check_choice",
    "check_game",
    "check_integer",
    "check_names",
    "dice_in_words",
    "drawn_dice",
    "entry_of",
    "fits",
    "follow_registrations",
    "freeze",
    "game_of",
    "integers",
    "listed",
    "make_game",
    "meant",
    "needed",
    "open_tiles",
    "own_rules",
    "register_game",
    "rolls",
    "rule",
    "rules_class_of",
    "rules_of",
    "throw_faces",
    "title",
    "walk",
    "words_of",
]  # fmt: skip

register_game(
    ShutTheBox,
    words=BoxWords,
    heuristics=shut_the_box.HEURISTICS,
    variants=VARIANTS,
    environments=shut_the_box.ENVIRONMENTS,
    reward_thresholds=shut_the_box.REWARD_THRESHOLDS,
)
register_game(Threes, words=ThreesWords, heuristics=threes.HEURISTICS, reward_thresholds=threes.REWARD_THRESHOLDS)
