"""The games: their rules, and the contract that all rules keep.

- `game`: the contract of a game; `contract`: the form of rules; `rules`: fields of rules.
- `shut_the_box`, `threes`: the rules, heuristics and ids of each game.
- `throws`: all rolls of some dice; `afterstates`: all afterstates, their moves and scores; `observations`: an array.
- `positions`: lookup of positions by options; `checking`: the check of every answer of a game.
- `registry`: games by name.
"""

from stb_gym.games import shut_the_box, threes
from stb_gym.games.checking import check_game
from stb_gym.games.contract import cached_by_rules, check_rules, observation_high
from stb_gym.games.game import Afterstate, Game, Heuristic, Moves, Roll, dice_in_words, make_game
from stb_gym.games.scores import final_scores, perfect_score
from stb_gym.games.throws import Rolls, rolls, throw_faces
from stb_gym.games.rules import Variant, all_rules, own_rules, rule, rules_of
from stb_gym.games.positions import locate
from stb_gym.games.afterstates import fits, states_of, walk
from stb_gym.games.observations import observations
from stb_gym.games.registry import GAMES, Entry, entry_of, game_of, name_of, rules_class_of, title
from stb_gym.games.shut_the_box import VARIANTS, ShutTheBox, open_tiles
from stb_gym.games.threes import Threes

__all__ = [
    "GAMES", "VARIANTS", "Afterstate", "Entry", "Game", "Heuristic", "Moves", "Roll", "Rolls", "ShutTheBox", "Threes",
    "Variant", "all_rules", "cached_by_rules", "check_game", "check_rules", "dice_in_words", "entry_of", "final_scores",
    "fits", "game_of", "locate", "make_game", "name_of", "observation_high", "observations", "open_tiles", "own_rules",
    "perfect_score", "rolls", "rule", "rules_class_of", "rules_of", "shut_the_box", "states_of", "threes",
    "throw_faces", "title", "walk",
]  # fmt: skip
