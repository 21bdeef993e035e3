"""The learners by name: the one list that training, the suite, the help texts, the pages and the tests read.

An agent of other code is the learner with the name MODULE:NAME, see `agents.custom`.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agents.afterstates import Afterstates
from agents.certainty_equivalence import CertaintyEquivalence
from agents.common import Learner
from agents.custom import CustomLearner, named
from agents.dqn import DQN
from agents.fitted_q import FittedQ
from agents.ppo import PPO
from agents.sb3 import StockA2C, StockDQN, StockMaskablePPO, StockPPO, TunedMaskablePPO
from agents.tabular import MonteCarlo, QLearning, TabularAfterstates
from stb_gym.checks import check_choice

LEARNERS: dict[str, type[Learner]] = {
    "ppo": PPO,
    "dqn": DQN,
    "fitted-q": FittedQ,
    "afterstates": Afterstates,
    "q-learning": QLearning,
    "tabular-afterstates": TabularAfterstates,
    "monte-carlo": MonteCarlo,
    "certainty-equivalence": CertaintyEquivalence,
    "sb3-ppo": StockPPO,
    "sb3-a2c": StockA2C,
    "sb3-dqn": StockDQN,
    "sb3-maskable-ppo": StockMaskablePPO,
    "sb3-maskable-ppo-tuned": TunedMaskablePPO,
}


def is_custom(name: str) -> bool:
    """Return whether a name is that of an agent of other code, MODULE:NAME."""
    return ":" in name


def check_agent(kind: str, name: Any, allowed: Iterable[str]) -> None:
    """Raise a ValueError unless a name is allowed. For a module of this folder, say how to name the agent in it."""
    if name not in [*allowed] and Path(f"{name}.py").exists():
        raise ValueError(f"{name} is a module: name the agent in it, such as {name}:Agent")
    check_choice(kind, name, ["MODULE:NAME", *allowed])


def learner_named(name: str) -> type[Learner]:
    """Return the class of a learner.

    Args:
        name: one of LEARNERS, or MODULE:NAME: a function or a class of an environment whose module is allowed.

    Raises:
        ValueError: if there is no such learner, or its module is not allowed.
    """
    if is_custom(name):
        maker = named(name)
        if not callable(maker):
            raise ValueError(f"{name} must be a function or a class of an environment, not a {type(maker).__name__}")
        return type(name, (CustomLearner,), {"maker": staticmethod(maker)})
    check_agent("algorithm", name, LEARNERS)
    return LEARNERS[name]
