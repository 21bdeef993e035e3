"""Temporal-difference learning of afterstate values with a network, with less noise from the dice.

An afterstate is what a move leads to before the dice are thrown, as in backgammon. The learner knows where every legal
move leads, but nothing of probabilities or rewards. One network holds the values of all afterstates:

    target of an afterstate = reward + max over the moves that follow of value(their afterstates)

Moves that lead to the same afterstate share its value, and a game of 700 actions needs no more outputs than one of two.

Most of the variance of targets comes from the dice. The network therefore also predicts, for every entry of the next
observation, how much it changes the target, and the fit subtracts this part:

    value(afterstate) + effect(afterstate) . (roll - mean roll)  is fitted to the target

A roll is the difference between the next observation and the afterstate, and the mean roll is the average over all
throws of as many dice. So the second term, a control variate, has a mean of 0: it lowers the variance and leaves values
unbiased.

Rewards are divided by the largest absolute reward so far, and they are not discounted. There are no eligibility traces.

References:
    Sutton and Barto, "Reinforcement learning: an introduction", 2018, section 6.8.
    Tesauro, "Temporal difference learning and TD-Gammon", 1995.
    Zinkevich et al., "Optimal unbiased estimators for evaluating agent performance", 2006.
"""

from typing import NamedTuple

import numpy as np
import torch
from pydantic import PositiveFloat, PositiveInt
from pydantic.dataclasses import dataclass

from agents.common import (
    Array,
    BoolArray,
    Callback,
    Critic,
    Exploration,
    Float32Array,
    Learner,
    State,
    VectorEnv,
    perceptron,
    unique_rows,
)
from stb_gym.arrays import IntArray

AT_ONCE = 2048  # afterstates in one pass through the network: their hidden layers fit into the cache


@dataclass(frozen=True)
class AfterstatesSettings:
    """Settings of afterstate learning; the defaults suit 5 million steps on nine tiles."""

    num_envs: PositiveInt = 4096
    """Environments that are stepped at once."""
    minibatches: PositiveInt = 16
    """Updates after every step of all environments, each with an equal part of the environments."""
    learning_rate: PositiveFloat = 2e-3
    """Learning rate at the start; it falls linearly to 0."""
    exploration: Exploration = 0.05
    """Probability of a random legal move."""
    width: PositiveInt = 128
    """Units in each of the two hidden layers."""
    control_variate: bool = True
    """Whether the predicted effect of the roll is subtracted from targets."""


class LegalMoves(NamedTuple):
    """The M legal moves at B positions, position by position.

    Attributes:
        action: [M] the actions.
        afterstate: [M, O + 1] what they lead to: an observation without a roll, and the number of dice thrown next.
        first: [B] the index of the first move of each position.
        number: [B] the number of moves of each position.
        best: [B] the index of the move of highest value, the first of equal ones.
        value: [B] the value of this move.
    """

    action: IntArray
    afterstate: Array
    first: IntArray
    number: IntArray
    best: IntArray
    value: Float32Array


class Experience(NamedTuple):
    """The last moves in B environments; each is learned from once the value of the next one is known.

    Attributes:
        afterstate: [B, O + 1] what they led to.
        roll: [B, O] the next observation minus the afterstate.
        reward: [B] the rewards; where an episode was truncated, with the value of its rest.
        continues: [B] True where the episode goes on.
    """

    afterstate: Array
    roll: Array
    reward: Float32Array
    continues: BoolArray


class Afterstates(Learner):
    """A learner of afterstate values by temporal differences; see the module and `Learner`.

    Its environment has `afterstates` and `afterstate_space`, as those of stb_gym have. Its figures are the loss, the
    variance of the predicted effects of rolls (in units of the scaled rewards) and the learning rate.

    Raises:
        ValueError: if the environment has no `afterstates`, or is not in SAME_STEP mode.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> envs = gym.make_vec("stb_gym/Threes-v0", 64, autoreset_mode="SameStep")
        >>> learner = Afterstates(envs, AfterstatesSettings(num_envs=64), seed=1)
        >>> learner.learn(1000)
        >>> learner.num_steps
        1024
    """

    settings_class = AfterstatesSettings
    title = "network of afterstates, `agents/afterstates.py`"
    method = "temporal differences over afterstates, by a network"
    source = "Tesauro (1995), Sutton and Barto (2018, 6.8)"
    plays_rounds = True
    WEIGHTS = ("_network", "_scale")
    SAVED = ("num_steps", "_network", "_scale", "_optimizer", "_episodes", "_throws", "_roll_sums", "_random")

    def __init__(self, envs: VectorEnv, settings: AfterstatesSettings, seed: int = 0, device: str = "cpu"):
        if not hasattr(envs, "afterstates"):
            raise ValueError("the learner `afterstates` needs an environment with the method `afterstates`")
        super().__init__(envs, settings, seed, device)
        space = envs.afterstate_space  # type: ignore[attr-defined]
        self._random = np.random.default_rng([seed, 1])
        generator = torch.Generator().manual_seed(seed)
        # The first output is the value of an afterstate; the others are the effects of rolls.
        self._network = perceptron(space, settings.width, space.shape[0], 0.1, generator).to(self._device)
        self._optimizer = torch.optim.Adam(self._network.parameters(), eps=1e-5, fused=True)
        self._last: Experience | None = None
        most_dice = int(space.high[-1])
        self._throws = np.zeros(most_dice + 1)
        self._roll_sums = np.zeros((most_dice + 1, space.shape[0] - 1))
        self._scale = float(np.finfo(np.float32).tiny)

    def learn(self, total_steps: int, callback: Callback = lambda: None) -> None:
        """See `Learner`; a rollout is one step of all environments."""
        while self.num_steps < total_steps:
            callback()
            moves = self._look(self._episodes.observation)
            last = self._last
            self._last = self._play(moves)
            if last is not None:
                targets = last.reward + np.where(last.continues, moves.value, 0)
                self._fit(last, targets, self.settings.learning_rate * max(1 - self.num_steps / total_steps, 0.0))

    def _look(self, observations: Array) -> LegalMoves:
        """Return the legal moves at observations [B, ...], and the best of each; there is always one."""
        rows, inverse = unique_rows(observations)
        position, action, afterstate = self._episodes.envs.afterstates(observations[rows])  # type: ignore[attr-defined]
        value = self._values(afterstate)
        number = np.bincount(position, minlength=len(rows))
        first = number.cumsum() - number
        best = np.lexsort((-value, position))[first]  # the first of equal ones, as the order is stable
        return LegalMoves(action, afterstate, first[inverse], number[inverse], best[inverse], value[best][inverse])

    def _play(self, moves: LegalMoves) -> Experience:
        """Make the best move in every environment, or with probability `exploration` a random one."""
        explores, which = self._random.random((2, len(moves.first)))
        random_move = moves.first + (which * moves.number).astype(np.int64)
        move = np.where(explores < self.settings.exploration, random_move, moves.best)
        afterstate = moves.afterstate[move]
        step = self._episodes.step(moves.action[move])
        self.num_steps += len(move)
        over = step.terminated | step.truncated
        self._scale = max(self._scale, float(np.abs(step.reward).max()))
        cut = step.truncated & ~step.terminated
        if cut.any():
            step.reward[cut] += self._look(step.next_observation[cut]).value
        return Experience(afterstate, step.next_observation - afterstate[:, :-1], step.reward, ~over)

    def _fit(self, last: Experience, targets: Array, learning_rate: float) -> None:
        """Fit values and effects of rolls to targets [B]."""
        luck = self._luck(last.afterstate[:, -1], last.roll)
        minibatches = min(self.settings.minibatches, len(targets))
        columns = last.afterstate, luck, (targets / self._scale).astype(np.float32)
        for part in np.array_split(self._random.permutation(len(targets)), minibatches):
            afterstate, roll, target = (self._tensor(column[part]) for column in columns)
            outputs = self._network(afterstate)
            effect = (outputs[:, 1:] * roll).sum(dim=1) * self.settings.control_variate
            loss = (outputs[:, 0] + effect - target).square().mean()
            self._optimizer.param_groups[0]["lr"] = learning_rate
            self._optimizer.zero_grad()
            loss.backward()
            self._optimizer.step()
        self.figures = {
            "loss": loss.item(),
            "effect_of_rolls": effect.square().mean().item(),
            "learning_rate": learning_rate,
        }

    def _luck(self, dice: Array, roll: Array) -> Float32Array:
        """Return [B, O] rolls minus the mean of all rolls so far of as many dice [B], including these."""
        one_hot = np.eye(len(self._throws))[dice.astype(np.int64)]
        self._throws += one_hot.sum(axis=0)
        self._roll_sums += one_hot.T @ roll
        mean = self._roll_sums / self._throws.clip(min=1)[:, None]
        return (roll - one_hot @ mean).astype(np.float32)

    @torch.no_grad()
    def _values(self, afterstates: Array) -> Float32Array:
        """Return [M] the values of afterstates [M, O + 1]; equal ones are computed once."""
        rows, inverse = unique_rows(afterstates)
        parts = self._tensor(afterstates[rows]).split(AT_ONCE)  # type: ignore[no-untyped-call]
        values = torch.cat([self._network(part)[:, 0] for part in parts]).numpy(force=True)
        return values[inverse] * np.float32(self._scale)

    @property
    def critic(self) -> Critic:
        """See `Learner`."""
        return lambda observations: self._look(observations).value

    def act(self, observations: Array, masks: BoolArray) -> IntArray:
        """See `Learner`."""
        moves = self._look(observations)
        return moves.action[moves.best]

    def state_dict(self) -> State:
        """See `Stored`."""
        last = None if self._last is None else [torch.as_tensor(array) for array in self._last]
        return super().state_dict() | {"last": last}

    def load_state_dict(self, state: State) -> None:
        """See `Stored`."""
        super().load_state_dict(state)
        self._last = state["last"] and Experience(*(tensor.numpy() for tensor in state["last"]))
