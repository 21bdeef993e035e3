"""The games: their rules, and how they are described and drawn.

- `game`: what a game is, fields of rules, and checks of arguments.
- `shut_the_box`, `threes`: the rules, heuristics and ids of each game.
- `text`, `drawing`: positions, moves and scores for people; `registry`: the registered games.
"""

from stb_gym.games import shut_the_box, threes
from stb_gym.games.drawing import Picture, below, drawn_dice, needed
from stb_gym.games.contract import check_game
from stb_gym.games.game import Afterstate, Game, Heuristic, Moves, Roll, make_game, title
from stb_gym.games.rolls import Rolls, rolls, throw_faces
from stb_gym.games.rules import Variant, all_rules, own_rules, rule, rules_of
from stb_gym.games.walk import fits, perfect_score, walk
from stb_gym.games.registry import (
    GAMES, Entry, entry_of, follow_registrations, game_of, register_game, rules_class_of, words_of,
)  # fmt: skip
from stb_gym.games.shut_the_box import VARIANTS, ShutTheBox, open_tiles
from stb_gym.games.text import BoxWords, ThreesWords, Words, dice_in_words
from stb_gym.games.threes import Threes

__all__ = [
    "GAMES", "VARIANTS", "Afterstate", "BoxWords", "Entry", "Game", "Heuristic", "Moves", "Picture", "Roll", "Rolls",
    "ShutTheBox", "Threes", "ThreesWords", "Variant", "Words", "all_rules", "below", "check_game", "dice_in_words",
    "drawn_dice", "entry_of", "fits", "follow_registrations", "game_of", "make_game", "needed", "open_tiles",
    "own_rules", "perfect_score", "register_game", "rolls", "rule", "rules_class_of", "rules_of", "throw_faces",
    "title", "walk", "words_of",
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
