"""What a game is, and the games; numpy alone, and Pillow to draw them.

- `game`: the words, and what a rules object is; `fields`: its fields, and checks; `keeping`: caches.
- `boards`: what games say of themselves in which moves take things off a board.
- `words`, `drawing`, `canvas`: how games are described and drawn; `registry`: the games known.
- `shut_the_box`, `threes`: everything of each game.
"""

from stb_gym.games.boards import Boards, BoardSums, board_scores, subset_sums
from stb_gym.games.canvas import Picture, below, needed
from stb_gym.games.drawing import forbidden
from stb_gym.games.fields import (
    Rule, Variant, all_rules, check_chances, check_choice, check_flag, check_integer, check_lineup, check_names,
    integers, make_game, meant, own_rules, rule, rule_flags, rules_of, same_rules, title,
)  # fmt: skip
from stb_gym.games.game import (
    ILLEGAL, Edges, Game, IntArray, Move, Moves, RuleOfThumb, Rolls, check_game, legal_moves, rolls, throw_faces,
)  # fmt: skip
from stb_gym.games.keeping import kept
from stb_gym.games.registry import GAMES, Entry, check_entry, enter, entry_of, game_of, rules_class_of, words_of
from stb_gym.games.shut_the_box import VARIANTS, ShutTheBox
from stb_gym.games.threes import Threes
from stb_gym.games.words import (
    Faces, Where, Words, dice_in_words, numbers_typed, positions_of, rolls_in_words, states_in_words,
)  # fmt: skip

__all__ = [
    "GAMES", "ILLEGAL", "VARIANTS", "BoardSums", "Boards", "Edges", "Entry", "Faces", "Game", "IntArray", "Move",
    "Moves", "Picture", "Rolls", "Rule", "RuleOfThumb", "ShutTheBox", "Threes", "Variant", "Where", "Words",
    "all_rules", "below", "board_scores", "check_chances", "check_choice", "check_entry", "check_flag", "check_game",
    "check_integer", "check_lineup", "check_names", "dice_in_words", "enter", "entry_of", "forbidden", "game_of",
    "integers", "kept", "legal_moves", "make_game", "meant", "needed", "numbers_typed", "own_rules", "positions_of",
    "rolls", "rolls_in_words", "rule", "rule_flags", "rules_class_of", "rules_of", "same_rules", "states_in_words",
    "subset_sums", "throw_faces", "title", "words_of",
]  # fmt: skip
