"""A web page to explore a game offline: every position, the moves of strategies and policies, games with a coach.

The page knows no rules. It gets the compiled game and solves it again for the objective that its reader chooses; all
words about the game are written here. Its script is built from the folder `web` of the repository.
"""

from stb_gym.explorer.page import explorer_page

__all__ = ["explorer_page"]
