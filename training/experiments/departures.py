"""Measure the effect of single changes of PPO, DQN and fitted Q: `python -m training.experiments.departures`.

The learners are trained by the presets, as they are and as subclasses with single changes. Regrets are added to a
.csv.gz file as trainings end; the same command continues. `python -m docs.results` writes them as a table.
"""

import sys

import torch

from agents.common import Episodes, Float32Array, Learner, Transition, VectorEnv, perceptron, plain_perceptron
from agents.dqn import DQN
from agents.fitted_q import EmpiricalModel, FittedQ, FittedQSettings
from agents.ppo import PPO, PPOSettings
from agents.presets import TASKS, configure
from stb_gym.arrays import IntArray
from training.experiments.table import Keys, table_command
from training.measurement import measure

STUDIES = ("nine-tiles 1m", "nine-tiles 10m", "twelve-tiles 10m", "threes 1m")  # task and variant
KEY = ["algorithm", "change", "study", "seed"]


class UnaryPPO(PPO):
    """PPO whose networks see observations in unary."""

    make_network = staticmethod(perceptron)


class PlainDQN(DQN):
    """DQN whose network sees observations as they are."""

    make_network = staticmethod(plain_perceptron)


class PlainFittedQ(FittedQ):
    """Fitted Q iteration whose network sees observations as they are."""

    make_network = staticmethod(plain_perceptron)


class ScaledEpisodes(Episodes):
    """Episodes whose rewards are divided by the largest absolute reward."""

    def step(self, action: IntArray) -> Transition:
        """See `Episodes`."""
        transition = super().step(action)
        return transition._replace(reward=transition.reward / abs(self.envs.rewards).max())  # type: ignore[attr-defined]


class ScaledPPO(PPO):
    """PPO whose rewards are divided by the largest one."""

    def __init__(self, envs: VectorEnv, settings: PPOSettings, seed: int = 0, device: str = "cpu"):
        super().__init__(envs, settings, seed, device)
        self._episodes = ScaledEpisodes(envs, seed)


class UnscaledFittedQ(FittedQ):
    """Fitted Q iteration without scaled rewards."""

    def scale_of(self, reward: Float32Array) -> float:
        """Return 1."""
        return 1.0


class UnpooledFittedQ(FittedQ):
    """Fitted Q iteration in which every move has transitions of its own."""

    def __init__(self, envs: VectorEnv, settings: FittedQSettings, seed: int = 0, device: str = "cpu"):
        super().__init__(envs, settings, seed, device)
        self._model = EmpiricalModel(self._episodes.actions, pools_moves=False)


CHANGES: dict[tuple[str, str], type[Learner]] = {
    ("ppo", "none"): PPO,
    ("ppo", "observations in unary"): UnaryPPO,
    ("ppo", "scaled rewards"): ScaledPPO,
    ("dqn", "none"): DQN,
    ("dqn", "observations not in unary"): PlainDQN,
    ("fitted-q", "none"): FittedQ,
    ("fitted-q", "observations not in unary"): PlainFittedQ,
    ("fitted-q", "rewards not scaled"): UnscaledFittedQ,
    ("fitted-q", "moves not pooled"): UnpooledFittedQ,
}


def keys(seeds: int) -> Keys:
    """Return the keys of all trainings."""
    # Unary, the only change of DQN, changes nothing on tiles, which are 0 or 1.
    on_tiles = [(algorithm, change) for algorithm, change in CHANGES if algorithm != "dqn" and "unary" not in change]
    changes = {study: list(CHANGES) if "threes" in study else on_tiles for study in STUDIES}
    return [(*name, study, seed) for study in STUDIES for name in changes[study] for seed in range(seeds)]


def train(algorithm: str, change: str, study: str, seed: int) -> list[float]:
    """Train a learner with a change; return its regret."""
    torch.set_num_threads(1)
    task, variant = study.split()
    config = configure(algorithm, *TASKS[task], variant, seed=seed)
    learner = CHANGES[algorithm, change](config.make_envs(), config.settings, seed)
    learner.learn(config.steps)
    return [measure(config, learner).greedy.regret]


main = table_command("departures", train, keys, KEY, ["regret"])

if __name__ == "__main__":
    sys.exit(main())
