"""The book of a game: everything that is known about it, as tables and pictures.

Every table is made by a function that anybody can call, and every picture is drawn from tables. In the order to read:

- `table`: what a table is; `words`: states, rolls and moves in words; `scorings`: what a turn is counted in.
- `positions`: the nodes of any game, and where strategies go wrong; `boxes`: Shut the Box alone; `totals`: Threes.
- `frontier`: few points against a score of 0; `players`: the strategies; `contests`: rounds of several players;
  `keeps`: what the players of a round of Threes keep.
- `pictures`: all drawing; `contents`: the pages of a book; `write`: writes them into a folder.

Drawing and writing need matplotlib and jinja2 (`pip install 'stb-gym[tables]'`), which are not loaded before.
"""

from stb_gym.book.write import write_book

__all__ = ["write_book"]
