"""Shut the Box, an old pub game of dice and tiles.

- `rules`: the game, with `matching` (which tiles a roll shuts), `hand` (how many dice are thrown) and `variants`;
  `taking`: the same for single boards.
- `words`, `drawing`: how it is described and drawn; `thumb`: rules of thumb; `environment`: the page of its
  Gymnasium environments.
"""

from stb_gym.games.registry import Entry, enter
from stb_gym.games.shut_the_box.environment import ENVIRONMENTS, REWARD_THRESHOLDS
from stb_gym.games.shut_the_box.rules import ShutTheBox
from stb_gym.games.shut_the_box.thumb import RULES_OF_THUMB
from stb_gym.games.shut_the_box.variants import VARIANTS
from stb_gym.games.shut_the_box.words import BoxWords

__all__ = ["VARIANTS", "ShutTheBox"]

enter(Entry(ShutTheBox, BoxWords, RULES_OF_THUMB, VARIANTS, ENVIRONMENTS, REWARD_THRESHOLDS))
