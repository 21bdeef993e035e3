"""A web page to explore a game offline: every position, the moves of strategies and policies, games with a coach.

The page has no code for the rules of a game. It receives the compiled game with all texts about it, and solves it again
for the objective that the reader chooses. Its script is built from the folder `web` of the repository.
"""

from stb_gym.explorer.page import explorer_page

__all__ = ["explorer_page"]
