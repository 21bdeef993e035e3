"""The learners by name: the one list that training, the suite, the help texts, the pages and the tests read."""

from agents.afterstates import Afterstates
from agents.certainty_equivalence import CertaintyEquivalence
from agents.common import Learner
from agents.dqn import DQN
from agents.fitted_q import FittedQ
from agents.ppo import PPO
from agents.sb3 import StockA2C, StockDQN, StockMaskablePPO, StockPPO, TunedMaskablePPO
from agents.tabular import MonteCarlo, QLearning, TabularAfterstates

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
