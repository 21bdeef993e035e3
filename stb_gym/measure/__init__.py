"""Measure agents against the exact optimum.

- `meter`: the regret of any agent. `agents` turns each kind of agent into one function, `wrapped` computes what it sees
  through the wrappers of its environment, and `sampled` measures turns that it plays.
- `policy_files`: policies as files, and those that come with the package; `leaderboard`: these, measured, as a page.
- `comparison`: two score distributions, the costliest mistakes of a policy, and sampled turns beside the exact value.
"""

from stb_gym.measure.comparison import (
    Comparison,
    Simulation,
    compare,
    mistakes_in_json,
    pocket_card,
    simulate,
)
from stb_gym.measure.meter import MOST_TURNS, RegretMeter
from stb_gym.measure.policy_files import (
    SavedPolicy,
    is_policy,
    kept_policies,
    load_policies,
    load_policy,
    read_policy,
    save_policies,
    save_policy,
)
from stb_gym.measure.sampled import AnyEvaluation, NORMAL_95, SampledEvaluation

__all__ = [
    "MOST_TURNS", "NORMAL_95", "AnyEvaluation", "Comparison", "RegretMeter", "SampledEvaluation", "SavedPolicy",
    "Simulation", "compare", "is_policy", "kept_policies", "load_policies", "load_policy",
    "mistakes_in_json", "pocket_card", "read_policy", "save_policies", "save_policy",
    "simulate",
]  # fmt: skip
