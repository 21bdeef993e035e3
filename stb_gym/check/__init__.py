"""Exact unit tests for reinforcement-learning code: is your learner right?

Each check takes a piece of your code, runs it on data whose right answer is known, and returns a `CheckResult`. It is
true if the check passed; printed, it says how far off the code is, where, and which faults look like this.
"""

from stb_gym.check.batches import Batch
from stb_gym.check.collectors import rollout
from stb_gym.check.formulas import advantages, q_targets, returns
from stb_gym.check.gradients import Direction, GradientResult, gradient
from stb_gym.check.groups import Groups, group_advantages
from stb_gym.check.ladder import agent
from stb_gym.check.loss_batches import LossBatch
from stb_gym.check.losses import policy_loss, td_loss, value_loss
from stb_gym.check.results import Case, CheckResult
from stb_gym.check.sampled_turns import Turns
from stb_gym.check.learners import Learner, Transitions, UpdateTask
from stb_gym.check.updates import update

__all__ = [
    "Batch",
    "Case",
    "CheckResult",
    "Direction",
    "GradientResult",
    "Groups",
    "Learner",
    "LossBatch",
    "Transitions",
    "Turns",
    "UpdateTask",
    "advantages",
    "agent",
    "gradient",
    "group_advantages",
    "policy_loss",
    "q_targets",
    "returns",
    "rollout",
    "td_loss",
    "update",
    "value_loss",
]
