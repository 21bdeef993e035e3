"""What is in the rest of a regret? `python -m training.experiments.rest` trains learners again with one help each.

The helps need exact tables. The drop of the regret is the part of the rest that a help takes away. Drops need not add
up. Rows are added to a .csv.gz file as trainings end; the same command continues. `python -m docs.results` draws them.
"""

import sys
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import torch

from agents.common import Array, FloatArray, VectorEnv
from agents.dqn import DQN, Minibatch, double_q_values
from agents.fitted_q import EmpiricalModel, FittedQ, FittedQSettings
from agents.ppo import PPO, DistinctRows, Samples
from agents.presets import TASKS, configure
from agents.registry import LEARNERS
from agents.tabular import QLearning
from stb_gym import RegretMeter, VectorRecordVisits, diagnose
from stb_gym.arrays import IntArray
from stb_gym.envs import TurnVectorEnv
from stb_gym.solver import solve_tables
from training.experiments.diagnoses import STUDIED
from training.experiments.table import Keys, table_command

KEY = ["agent", "task", "help", "seed"]
NUMBERS = ["regret", "rest"]
STEPS = 50_000
NONE, TARGETS, STARTS, UPDATES = HELPS = "none", "expected targets", "uniform starts", "4 times the updates"
UPDATES_OF = {"fitted-q": "gradient_steps", "dqn": "gradient_steps", "ppo": "epochs"}  # the setting that counts updates


def values_after(envs: Any, values: Array) -> FloatArray:
    """Return [Y] the exact mean over the throws at each afterstate of: reward + value of the state.

    Args:
        envs: the environment of the learner.
        values: [D] the values of all states with a legal action.
    """
    tables = envs.transitions.tables
    of_states = envs.objective.utilities(tables.final_score).astype(float)[tables.state_origin]
    of_states[tables.decisions] = values
    return tables.mean_over_rolls(of_states)


class ExactDQN(DQN):
    """DQN whose targets are means over all throws instead of one throw."""

    def _update(self, batch: Minibatch) -> None:
        envs: Any = self._episodes.envs.unwrapped
        tables = envs.transitions.tables
        observations, legal = tables.observation[tables.decisions], self._tensor(tables.legal[tables.decisions])
        with torch.no_grad():
            target_q_values = self._target_network(self._tensor(observations))
            values = double_q_values(self._q_values(observations), target_q_values, legal).numpy(force=True)
        reached = envs.transitions.after_actions(envs.find_states(batch.observation), batch.action)
        targets = values_after(envs, values)[reached].astype(np.float32)
        super()._update(batch._replace(reward=targets, terminated=np.ones(len(targets), np.bool_)))


class ExactModel(EmpiricalModel):
    """A model that averages over all throws at the afterstate of a move, and not over the observed transitions.

    Args:
        envs: the environment of the learner.
        positions: [D] the index of the position of each state with a legal action.
        actions: the number of actions A.
    """

    def __init__(self, envs: Any, positions: IntArray, actions: int):
        super().__init__(actions, pools_moves=False)
        self._envs, self._positions = envs, positions
        self._state_of = np.zeros(positions.max() + 1, np.int64)
        self._state_of[positions] = envs.transitions.tables.decisions

    def means(self, values: Array) -> FloatArray:
        """See `EmpiricalModel`."""
        position, action = np.divmod(self.moves, self._actions)
        reached = self._envs.transitions.after_actions(self._state_of[position], action)
        return values_after(self._envs, values[self._positions])[reached]


class ExactFittedQ(FittedQ):
    """Fitted Q iteration on the exact model of the moves that were made."""

    def __init__(self, envs: VectorEnv, settings: FittedQSettings, seed: int = 0, device: str = "cpu"):
        super().__init__(envs, settings, seed, device)
        inside: Any = envs.unwrapped
        tables = inside.transitions.tables
        decisions = tables.decisions
        positions = self._positions.numbers(tables.observation[decisions], tables.legal[decisions])
        self._model = ExactModel(inside, positions, self._episodes.actions)

    def _fit(self, learning_rate: float) -> None:
        # No update contains a position where no move was made, so its value would stay that of the first network.
        unmet = np.setdiff1d(np.arange(1, len(self._values)), self._model.moves // self._episodes.actions)
        self._value(unmet, self._q(self._positions.observations[unmet]))
        super()._fit(learning_rate)


class ExactPPO(PPO):
    """PPO with the exact advantages and values of its policy."""

    def _play(self) -> tuple[DistinctRows, Samples]:
        rows, samples = super()._play()
        envs: Any = self._episodes.envs.unwrapped
        tables = envs.transitions.tables
        seen, legal = (self._tensor(array[tables.decisions]) for array in (tables.observation, tables.legal))
        with torch.no_grad():
            policy = tables.policy(self._logits(seen, legal).double().softmax(dim=1).numpy(force=True))
        after, at_states = solve_tables(envs.game, envs.objective).evaluate(policy).utilities
        states = envs.find_states(rows.observation.numpy(force=True))[samples.row.numpy(force=True)]
        advantage = after[envs.transitions.after_actions(states, samples.action.numpy(force=True))] - at_states[states]
        normalized = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        exact = (self._tensor(numbers.astype(np.float32)) for numbers in (normalized, at_states[states]))
        return rows, samples._replace(**dict(zip(("advantage", "value_target"), exact, strict=True)))


class ExactQLearning(QLearning):
    """Q-learning whose targets are means over all throws instead of one throw."""

    def _update(self, entries: IntArray, targets: Array) -> None:
        values = self._table[self._entries[self._tables.decisions]].max(axis=1)
        super()._update(entries, values_after(self._envs, values)[self._tables.pair_afterstate[entries]])


EXACT = {"fitted-q": ExactFittedQ, "dqn": ExactDQN, "ppo": ExactPPO, "q-learning": ExactQLearning}


class UniformStarts(TurnVectorEnv):
    """Turns that begin at any state with a legal action, all with the same probability."""

    def _begin_turns(self, games: IntArray, afterstate: int, throws: IntArray) -> None:
        super()._begin_turns(games, afterstate, throws)
        self._states[games] = self.np_random.choice(self.transitions.tables.decisions, len(games))


def keys(seeds: int) -> Keys:
    """Return the keys of all trainings."""
    return [
        (agent, task, name, seed)
        for seed, agent, task, name in product(range(seeds), EXACT, STUDIED, HELPS)
        if agent in UPDATES_OF or name != UPDATES
    ]


def train(agent: str, task: str, name: str, seed: int) -> list[float]:
    """Train a learner with a help; return its regret and the rest of it."""
    torch.set_num_threads(1)
    config = configure(agent, *TASKS[task], "200k", seed=seed)
    settings = config.settings
    envs = plain = config.make_envs()
    if name == UPDATES:
        count = UPDATES_OF[agent]
        settings = replace(settings, **{count: 4 * getattr(settings, count)})
    if name == STARTS:
        envs = UniformStarts(
            plain.game, settings.num_envs, plain.objective, autoreset_mode="SameStep", observation_dtype="uint8"
        )
    kind = EXACT[agent] if name == TARGETS else LEARNERS[agent]
    recorded = VectorRecordVisits(envs)
    learner = kind(recorded, settings, seed)
    learner.learn(STEPS)
    found = diagnose(RegretMeter(plain), learner.act, recorded.visits)
    return [found.evaluation.regret, found.rest]


main = table_command("rest", train, keys, KEY, NUMBERS)

if __name__ == "__main__":
    sys.exit(main())
