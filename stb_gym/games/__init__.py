"""The games: their rules, and the contract that all rules keep.

- `game`: the contract of a game; `rules`: fields of rules; `throws`: all rolls of some dice.
- `shut_the_box`, `threes`: the rules, heuristics and ids of each game.
- `afterstates`: all afterstates of a game; `positions`: lookup of positions by options; `contract`: the check of rules.
- `registry`: games by name.
"""

from stb_gym.games import shut_the_box, threes
from stb_gym.games.contract import check_game
from stb_gym.games.game import Afterstate, Game, Heuristic, Moves, Roll, dice_in_words, make_game, title
from stb_gym.games.throws import Rolls, rolls, throw_faces
from stb_gym.games.rules import Variant, all_rules, own_rules, rule, rules_of
from stb_gym.games.positions import locate
from stb_gym.games.afterstates import fits, perfect_score, walk
from stb_gym.games.registry import GAMES, Entry, entry_of, game_of, rules_class_of
from stb_gym.games.shut_the_box import VARIANTS, ShutTheBox, open_tiles
from stb_gym.games.threes import Threes

__all__ = [
    "GAMES", "VARIANTS", "Afterstate", "Entry", "Game", "Heuristic", "Moves", "Roll", "Rolls", "ShutTheBox", "Threes",
    "Variant", "all_rules", "check_game", "dice_in_words", "entry_of", "fits", "game_of", "locate",
    "make_game", "open_tiles", "own_rules", "perfect_score", "rolls", "rule", "rules_class_of", "rules_of",
    "shut_the_box", "threes", "throw_faces", "title", "walk",
]  # fmt: skip
