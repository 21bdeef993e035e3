"""The pictures of a book, each drawn from a table and in words that say what comes out.

- `charts`: panels with lines, dots and bars, as SVG; `picture`: panels, a legend and what comes out.
- `turns`, `rounds`: the pictures of any game; `boards`: those of single games.
"""

from stb_gym.book.pictures.boards import draw_beat, draw_boards, draw_take_or_rethrow
from stb_gym.book.pictures.charts import Panel, ramp
from stb_gym.book.pictures.picture import Key, Picture, paint, values
from stb_gym.book.pictures.rounds import draw_evenings, draw_seats, draw_winning
from stb_gym.book.pictures.turns import draw_first_rolls, draw_frontier, draw_scores, draw_tree

__all__ = [
    "Key", "Panel", "Picture", "draw_beat", "draw_boards", "draw_evenings", "draw_first_rolls",
    "draw_frontier", "draw_scores", "draw_seats", "draw_take_or_rethrow", "draw_tree", "draw_winning", "paint", "ramp",
    "values",
]  # fmt: skip
