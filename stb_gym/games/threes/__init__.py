"""Threes, also called "the dice game": five dice, and the threes count nothing.

- `rules`: the game; `words`: how it is described and drawn; `thumb`: rules of thumb.
- `environment`: the page of its Gymnasium environment.
"""

from stb_gym.games.registry import Entry, enter
from stb_gym.games.threes.environment import REWARD_THRESHOLDS
from stb_gym.games.threes.rules import Threes
from stb_gym.games.threes.thumb import RULES_OF_THUMB
from stb_gym.games.threes.words import ThreesWords

__all__ = ["Threes"]

enter(Entry(Threes, ThreesWords, RULES_OF_THUMB, reward_thresholds=REWARD_THRESHOLDS, chapter="stb_gym.book.totals"))
