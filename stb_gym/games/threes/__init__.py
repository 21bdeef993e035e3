"""Threes, also called "the dice game": five dice, and the threes count nothing.

- `rules`: the game; `words`: how it is described and drawn; `thumb`: rules of thumb.
- `environment`: the page of its Gymnasium environment.
"""

from stb_gym.games.registry import Entry, enter
from stb_gym.games.threes.rules import Threes
from stb_gym.games.threes.thumb import RULES_OF_THUMB
from stb_gym.games.threes.words import ThreesWords

__all__ = ["Threes"]

# The mean reward of perfect play, by the name of the id.
REWARD_THRESHOLDS = {"Threes-v0": -6.253978525944823}

enter(Entry(Threes, ThreesWords, RULES_OF_THUMB, reward_thresholds=REWARD_THRESHOLDS))
