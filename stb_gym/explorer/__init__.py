"""A page to look at a game with: every position, everybody's moves, games against a coach. It works without a network.

The page knows no rules. It gets the compiled game and solves it again by itself, for whatever its reader plays for;
what it says in words is written here. Its script is built from the folder `web` of the repository.

- `graph`: the arrays of the game; `words`: what is said of it.
- `players`: policies, and the measurements of trainings; `leads`: what final scores are worth in a round.
- `contents`: all of this together; `packing`: in one text; `page`: the file around it.
"""

from stb_gym.explorer.page import explorer_page, write_explorer
from stb_gym.explorer.players import titles_of

__all__ = ["explorer_page", "titles_of", "write_explorer"]
