"""The book of a game: everything that is known about it, as answers, pictures and tables.

Every table is made by a function that anybody can call, and every picture is drawn from tables. In the order to read:

- `words`: states, rolls and moves in words, and as they are drawn; `chapters`: what is of one game.
- `positions`: the nodes of any game, and where strategies go wrong; `tree`: one position and all that may follow;
  `frontier`: good points against the perfect score; `reading`: what readers see of such tables.
- `players`: the strategies; `contests`: rounds of several players; `pictures`: what all of these look like.
- `boxes`: the chapter of Shut the Box; `totals`: that of Threes.
- `contents`: the pages of a book; `answers`: what its readers ask first; `page`: the file they open; `write`: writes
  all of it into a folder.

Any game has a book. A game with more to tell is registered with the name of a module, its chapter, which is imported
when a book is made. A chapter may define any of these names; what it leaves out is as for any game:

- `pages(game)`: a dict of the pages of this game alone, each a `Page`, by the names of their files (by default none);
- `scorings(game)`: a list with each `Scoring` under which positions are valued (the points);
- `RULES_OF_THUMB`: the strategies shown beside the best play, and whose mistakes are listed (all its rules of thumb);
- `PICTURED`: the strategies whose scores are drawn beside the best ones (all its rules of thumb, random, worst);
- `answers(game, tables)`: a list with each `Answer` that is of this game alone, from what readers see of the tables, by
  name (none).

What is in `stb_gym.book.pictures` draws the pictures of pages; a `Heat` colours the numbers of their tables. Writing
needs jinja2 (`pip install 'stb-gym[tables]'`), which is not loaded before.
"""

from stb_gym.book.chapters import Answer, Heat, Page, Scoring
from stb_gym.book.write import write_book

__all__ = ["Answer", "Heat", "Page", "Scoring", "write_book"]
