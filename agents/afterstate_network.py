"""A network of afterstates: the value of what a move leads to, before chance answers, learned by temporal differences.

    target of an afterstate = reward + max over the moves that follow of value(the afterstate of that move)
    what is fitted to it    = value(the afterstate) + luck(the afterstate) . (what chance showed - its mean)

Sutton and Barto, "Reinforcement learning", 2018, 6.8; Tesauro, "Temporal difference learning and TD-Gammon", 1995. Who
learns so is told where every legal move leads, as a person sees who looks at a board, and nothing of chances or worths.
Actions that lead to the same afterstate share what is learned, and there is one value, however many actions there are.

Most of the noise of targets is luck. So beside the value of an afterstate the network tells what each thing that chance
may show there is worth; this, less its mean, is subtracted from the target. Luck has a mean of 0: values keep theirs
(Zinkevich et al., "Optimal unbiased estimators for evaluating agent performance", 2006).

What differs from TD-Gammon:

- Rows that are equal are computed once, and learned from with the mean of their targets.
- Games are many, and remember their last move alone (one game, eligibility traces); some moves are random (none).
- Layer normalisation after each of two hidden layers, and ReLU; Muon for matrices of hidden layers, Adam for the rest
  (one hidden layer of sigmoids, gradient descent); the learning rate falls linearly to 0 (constant).
- Rewards are divided by the greatest sum of an episode so far (the chances of four outcomes are learned).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from agents.learner import Snapshot, VectorEnv, Weights, check_exploration, check_positive, explored
from agents.luck import Luck
from agents.networks import Perceptron, load, weights_of
from agents.optimizers import Optimizer
from agents.outlook import Outlook, outlook_of
from agents.playing import SCALE, Playing
from agents.rows import distinct
from agents.snapshots import named, part, take_up

MAX_GRADIENT_NORM = 10.0
AT_ONCE = 2048  # afterstates: what the network computes of them fits the cache


@dataclass(frozen=True)
class AfterstateSettings:
    """Settings of a network of afterstates."""

    num_envs: int
    """Environments that are stepped at once."""
    minibatches: int
    """Updates after every step of all environments, each of about as many distinct pairs of an afterstate and what
    chance showed there."""
    learning_rate: float
    """Learning rate at the start; it falls linearly to 0."""
    exploration: float
    """Probability of a random legal move."""
    width: int
    """Units in each of the two hidden layers."""
    masks: ClassVar[bool] = True

    @property
    def first_update(self) -> int:
        """After how many steps it begins to learn: the first moves have their targets when the second are made."""
        return 2 * self.num_envs

    def check(self) -> None:
        """Raise a ValueError where a setting has no meaning."""
        check_exploration(self.exploration)
        check_positive(self, "learning_rate")


class Moved(NamedTuple):
    """The last moves in B environments, which are learned from when the next ones are looked at.

    Attributes:
        made: [B] whether there was one.
        afterstate: [B, O + 1] what it led to.
        shown: [B, O] what chance then showed: how much more was seen.
        reward: [B] its reward, with the value of the rest of an episode that was truncated.
        goes_on: [B] whether the value of the next move follows.
    """

    made: NDArray[np.bool_]
    afterstate: NDArray[Any]
    shown: NDArray[Any]
    reward: NDArray[np.float32]
    goes_on: NDArray[np.bool_]


class AfterstateNetwork:
    """Learns the value of afterstates from observations, rewards and what moves lead to.

    Args:
        envs: the vector environment, in SAME_STEP or NEXT_STEP mode, whose `afterstates` tells what moves lead to.
        settings: its settings.
        seed: of the environment, the network and the exploration.
        device: where the network is, as torch names it.

    Attributes:
        num_timesteps, figures: see `Learner`.

    Raises:
        ValueError: if a setting has no meaning, or the environment is of another kind; see `Playing`.
    """

    def __init__(self, envs: VectorEnv, settings: AfterstateSettings, seed: int = 0, device: str = "cpu"):
        settings.check()
        if not hasattr(envs, "afterstates"):
            raise ValueError("a network of afterstates needs an environment that has `afterstates`: what moves lead to")
        self.settings, self._device = settings, torch.device(device)
        self._afterstates, self._space = envs.afterstates, envs.afterstate_space  # type: ignore[attr-defined]
        self._random = np.random.default_rng([seed, 1])  # other numbers than those of the dice
        self._playing, weights = Playing(envs, masks=True, seed=seed), torch.Generator().manual_seed(seed)
        self._network = Perceptron(self._space, settings.width, self._space.shape[0], 0.1, weights).to(self._device)
        self._optimizer = Optimizer(self._network, max_gradient=MAX_GRADIENT_NORM)
        self.num_timesteps, self.figures = 0, dict[str, float]()
        self._last, self._luck = self._none(), Luck(int(self._space.high[-1]), self._space.shape[0] - 1)

    def _none(self) -> Moved:
        """No moves yet."""
        none = np.zeros(self._playing.envs.num_envs, np.bool_)
        afterstate = np.zeros((len(none), *self._space.shape), self._space.dtype)
        return Moved(none, afterstate, afterstate[:, :-1], none.astype(np.float32), none)

    def learn_until(self, steps: int, before_rollout: Callable[[], None] = lambda: None) -> None:
        """See `Learner`; a rollout is one step of all environments."""
        while self.num_timesteps < steps:
            before_rollout()
            moves = self._play()
            self.num_timesteps += len(self._playing.decision)
            if len(moves[0]):
                self._learn(*moves, self.settings.learning_rate * max(1 - self.num_timesteps / steps, 0))

    def _play(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float32]]:
        """Make a move in every environment.

        Returns:
            Of the moves before, what they led to [B, O + 1], what chance showed [B, O], and their targets [B], which
            are known only now.
        """
        playing, last = self._playing, self._last
        first, place = distinct(playing.observation)
        outlook = self._look(playing.observation[first])
        targets = last.reward / playing.scale + np.where(last.goes_on, outlook.value[place], 0)
        explores, which = self._random.random((2, len(place)), np.float32)
        random = outlook.first[place] + (which * outlook.choices[place]).astype(np.int64)
        move = np.where(explores < self.settings.exploration, random, outlook.best[place])
        decision, action, chosen = playing.decision, np.zeros(len(place), np.int64), last.afterstate.copy()
        action[decision], chosen[decision] = (each[move[decision]] for each in (outlook.action, outlook.afterstate))
        step = playing.step(action)
        if step.truncated.any():
            step.reward[step.truncated] += playing.scale * self._look(step.last).value
        shown = playing.arrived() - chosen[:, :-1]
        self._last = Moved(decision, chosen, shown, step.reward, ~(step.terminated | step.truncated))
        return last.afterstate[last.made], last.shown[last.made], targets[last.made]

    def _look(self, observations: NDArray[Any]) -> Outlook:
        """What the moves at positions lead to, and which of them is the best."""
        position, action, afterstate = self._afterstates(observations)
        value = self._estimates(afterstate) if len(afterstate) else np.zeros(0, np.float32)
        return outlook_of(len(observations), position, action, afterstate, value)

    def _learn(self, afterstates: NDArray[Any], shown: NDArray[Any], targets: NDArray[np.float32], rate: float) -> None:
        """Move the values of afterstates towards the means of their targets, less the luck."""
        luck = self._luck.of(afterstates[:, -1], shown)
        first, place = distinct(afterstates, shown)
        count = np.bincount(place)
        numbers = np.bincount(place, targets) / count, count / count.mean()
        order = self._random.permutation(len(first))
        samples = [
            torch.as_tensor(array[order]).to(self._device).chunk(self.settings.minibatches)
            for array in (afterstates[first], luck[first], *(each.astype(np.float32) for each in numbers))
        ]
        for seen, lucky, target, weight in zip(*samples, strict=True):
            told = self._network(seen)
            value, of_luck = told[:, 0], (told[:, 1:] * lucky).sum(dim=1)
            loss = (weight * (value + of_luck - target) ** 2).mean()
            self._optimizer.step(loss, rate)
        self.figures = {"loss": loss.item(), "luck": of_luck.square().mean().item(), "learning_rate": rate}

    @torch.no_grad()
    def _estimates(self, afterstates: NDArray[Any]) -> NDArray[np.float32]:
        """[M] the values of afterstates, divided by the scale."""
        first, place = distinct(afterstates)
        parts = torch.split(torch.as_tensor(afterstates[first]).to(self._device), AT_ONCE)
        return np.concatenate([self._network.first_output(part).numpy(force=True) for part in parts])[place]

    def probabilities(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> NDArray[np.float32]:
        """See `Learner`."""
        outlook = self._look(observations)
        return explored(masks, outlook.action[outlook.best], self.settings.exploration)

    def values(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> NDArray[np.float64]:
        """See `Learner`."""
        return self._look(observations).value.astype(np.float64) * self._playing.scale

    def afterstate_values(self, afterstates: NDArray[Any]) -> NDArray[np.float64]:
        """[M] the sums of rewards it expects from afterstates [M, O + 1] on."""
        return self._estimates(afterstates).astype(np.float64) * self._playing.scale

    def weights(self) -> dict[str, NDArray[Any]]:
        """See `Learner`; the `scale` of rewards belongs to them, as the network tells values divided by it."""
        return {**weights_of(self._network), SCALE: np.asarray(self._playing.scale)}

    def load_weights(self, weights: Weights) -> None:
        """See `Learner`."""
        self._playing.scale = weights[SCALE].item()
        load(self._network, weights)

    def snapshot(self) -> dict[str, Any]:
        """See `Learner`."""
        return {
            "num_timesteps": self.num_timesteps,
            "random": self._random.bit_generator.state,
            **named("luck", self._luck.snapshot()),
            **named("last", self._last._asdict()),
            **named("weights", self.weights()),
            **named("optimizer", self._optimizer.snapshot()),
            **named("playing", self._playing.snapshot()),
        }

    def restore(self, snapshot: Snapshot) -> None:
        """See `Learner`; where the environment has no snapshot, it goes on with new episodes."""
        parts = {"optimizer": self._optimizer.restore, "playing": self._playing.restore, "weights": self.load_weights}
        take_up(self, snapshot, self._random, {**parts, "luck": self._luck.restore})
        if not all(map(self._space.contains, snapshot["last.afterstate"])):
            raise ValueError("the last moves lead to no afterstates")
        self.num_timesteps = snapshot["num_timesteps"]
        self._last = Moved(**part(snapshot, "last")) if "playing.observation" in snapshot else self._none()
