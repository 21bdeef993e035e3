"""The learners by name: the one list that training, the suite, the help texts, the pages and the tests read.

An agent of other code is the learner with the name MODULE:NAME, see `agents.custom`.
"""

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
    check_choice("algorithm", name, ["MODULE:NAME", *LEARNERS])
    return LEARNERS[name]
