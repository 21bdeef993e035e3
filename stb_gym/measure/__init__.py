"""Measuring agents against the exact optimum.

- `meter`: the regret of anybody's agent; `agents`: what counts as one; `shown`: what an environment shows it.
- `sampling`: turns that an agent plays, with the exact loss of each choice, by `losses`; `sampled`: what they tell.
- `policy_files`: policies as files, and those that come with the package; `archive` reads them and believes nothing.
- `histories`: the policies of all measurements of a training in one file.
- `leaderboard`: judges them, and makes the page of the kept ones from their `cards`; `mistakes`: what they do wrong.
- `simulation`: sampled games, to hold against the exact numbers.
- `comparison`: how different two distributions of final scores are, and rules of thumb with exceptions.
"""

from stb_gym.measure.cards import Card, read_cards, write_card
from stb_gym.measure.comparison import Comparison, compare, pocket_card
from stb_gym.measure.histories import load_policies, save_policies
from stb_gym.measure.leaderboard import Judgement, judge, leaderboard
from stb_gym.measure.meter import MOST_TURNS, RegretMeter
from stb_gym.measure.mistakes import mistakes_in_json, mistakes_in_words
from stb_gym.measure.policy_files import (
    SavedPolicy, is_policy, kept_policies, load_policy, read_policy, save_policy,
)  # fmt: skip
from stb_gym.measure.sampled import NORMAL_95, AnyEvaluation, SampledEvaluation
from stb_gym.measure.simulation import Simulation, simulate

__all__ = [
    "MOST_TURNS", "NORMAL_95", "AnyEvaluation", "Card", "Comparison", "Judgement", "RegretMeter",
    "SampledEvaluation", "SavedPolicy", "Simulation", "compare", "is_policy", "judge", "kept_policies", "leaderboard",
    "load_policies", "load_policy", "mistakes_in_json", "mistakes_in_words", "pocket_card",
    "read_cards", "read_policy", "save_policies", "save_policy", "simulate", "write_card",
]  # fmt: skip
