"""Try out wrappers: play a copy of an environment beside a twin without wrappers, and compare.

The twin takes the same actions, until something differs. A change that a wrapper makes in less than one of 500 steps
may not occur.
"""

import time
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import BoolArray, FloatArray, IntArray
from stb_gym.layers import all_layers, copy_of, first_known, has_processes, is_known, layers_of, limits_of
from stb_gym.messages import reason

TURNS = 200
SECONDS = 1.0  # processor time after which no further step is made: a busy machine makes as many steps
ILLEGAL = "what illegal actions do"
MASKS = "the action masks"
ILLEGAL_SHARE = 0.05  # share of illegal actions, where they end turns


class Shown(NamedTuple):
    """The observations and masks of B turns after a step.

    Attributes:
        plain: [B, O] observations without wrappers.
        masks: [B, A] the legal actions.
        observation: [B, ...] observations with wrappers; of a single environment without the first dimension.
        goes_on: [B] whether each turn goes on.
    """

    plain: NDArray[Any]
    masks: BoolArray
    observation: Any
    goes_on: BoolArray


@dataclass
class Trial:
    """What was found by trying out wrappers for some turns.

    Attributes:
        name: the name of the outermost wrapper that was tried.
        is_single: whether the environment is a single one.
        change: what the wrappers change about the turns; "" if nothing.
        shown: what agents saw.
        returns: the sums of the rewards of each turn, without and with wrappers.
    """

    name: str
    is_single: bool = True
    change: str = ""
    shown: list[Shown] = field(default_factory=list)
    returns: list[tuple[float, float]] = field(default_factory=list)

    @property
    def reward_factor(self) -> float | None:
        """The factor by which wrappers multiply the sum of the rewards of a turn; None if they change it otherwise."""
        plain, wrapped = np.array(self.returns or [(1, 1)]).T
        if not plain.any():
            return 1.0
        factor = float(plain @ wrapped / (plain @ plain))
        return factor if factor > 0 and np.allclose(wrapped, factor * plain, rtol=1e-4) else None


def check_wrappers(env: Any, rewards: bool = True) -> Trial | None:
    """Check that the turns of a wrapped environment are those of the environment inside.

    Args:
        env: an environment, not a game.
        rewards: whether rewards must be those of the environment inside, up to a factor.

    Returns:
        What happened when the wrappers were tried out; None if all are known.

    Raises:
        ValueError: if a wrapper truncates turns, changes what is played, or cannot be tried out.
    """
    layers = layers_of(env)
    stepper = getattr(getattr(layers[0], "turn", layers[0]), "stepper", None)
    limit = min(limits_of(env), default=None)
    if stepper is not None and limit is not None and limit < stepper.longest:
        raise ValueError(
            f"a turn may take {stepper.longest} steps, but the environment truncates it after {limit}: give one "
            "without that limit"
        )
    trial = try_out(env)
    if trial is None:
        return None
    if trial.change:
        trials = filter(None, map(try_out, layers))  # the first that changes something has the guilty one outside
        trial = next((each for each in trials if each.change), trial)
        raise ValueError(
            f"{trial.name} changes {trial.change}: record the losses of play with RecordRegret, or give the "
            "environment inside"
        )
    if rewards and trial.reward_factor is None:
        raise ValueError(
            f"{trial.name} changes the rewards: name the objective, such as objective='score', or give the environment "
            "inside"
        )
    return trial


def try_out(env: Any) -> Trial | None:
    """Play a copy of an environment with random actions, always the same.

    Returns:
        What happened; None if all wrappers are known.

    Raises:
        ValueError: if a wrapper cannot be copied.
    """
    layers = layers_of(env)
    unknown = [layer for layer in all_layers(env) if not is_known(layer)]
    tried = [layer for layer in unknown if layer is not layers[0] or hasattr(layer, "stepper")]
    if not tried:
        return None
    trial = Trial(type(tried[-1]).__name__)
    in_processes = next((place for place, layer in enumerate(layers) if has_processes(layer)), 0)
    if in_processes and all(map(is_known, layers[in_processes:])):
        env = gym.vector.SyncVectorEnv(layers[in_processes].env_fns)  # the members of an AsyncVectorEnv, made anew
    try:
        play = _Play(copy_of(env))
    except Exception as error:  # any, of code of others
        raise ValueError(
            f"{trial.name} cannot be copied to try it out ({reason(error)}): record the losses of play with "
            "RecordRegret, or give the environment inside"
        ) from error
    trial.is_single = play.is_single
    random = np.random.default_rng(0)
    returns = np.zeros((2, play.size))
    end = time.thread_time() + SECONDS
    while not trial.change and len(trial.returns) < TURNS and time.thread_time() < end:
        masks = play.masks
        actions = (random.random(masks.shape) * masks).argmax(axis=1)
        if play.may_be_illegal:
            other = random.random(play.size) < ILLEGAL_SHARE
            actions[other] = random.integers(masks.shape[1], size=other.sum())
        returns += play.step(actions)
        trial.returns += zip(*returns[:, play.over].tolist(), strict=True)
        returns[:, play.over] = 0
        if not play.change:
            trial.shown.append(play.shown)
        if play.over.any() and not play.change and play.begin_anew():
            trial.shown.append(play.shown)
        trial.change = play.change
    return trial


class _Play:
    """A copy of an environment at play, beside a twin without wrappers that takes the same actions.

    Attributes:
        size: the number of turns B.
        is_single: whether it is a single environment.
        over: [B] whether the last step ended each turn.
        shown: what the last step showed.
        change: what differs from the twin.
    """

    shown: Shown

    def __init__(self, env: Any):
        self._env = env
        self._is_sb3 = hasattr(env, "env_method")
        self.is_single = isinstance(env, gym.Env)
        mode = "SameStep" if self._is_sb3 else getattr(env.unwrapped, "autoreset_mode", "Disabled")
        self._mode = getattr(mode, "value", mode)
        if self._is_sb3:
            env.seed(0)
            env.reset()
        else:
            env.reset(seed=0)
        self._twin = _plain(env.unwrapped)
        self._bases, self._plain_bases = _bases_of(env), _bases_of(self._twin)
        self.may_be_illegal = self._bases[0].illegal == "end"
        self.change = ""
        self.size = len(self.masks)
        self.over = np.zeros(self.size, np.bool_)

    @property
    def masks(self) -> BoolArray:
        """[B, A] the legal actions."""
        return np.concatenate([np.atleast_2d(base.action_masks()) for base in self._bases])

    def step(self, actions: IntArray) -> FloatArray:
        """Step the copy and the twin.

        Returns:
            [2, B] the rewards without and with wrappers.
        """
        was_over = self.over & (self._mode == "NextStep")
        legal = self.masks[np.arange(self.size), actions] | was_over
        try:
            observation, rewards, over, info = self._stepped(self._env, actions)
        except Exception:
            if legal.all():
                raise
            self.change = ILLEGAL
            return np.zeros((2, self.size))
        plain, plain_rewards, self.over, _ = self._stepped(self._twin, actions)
        steps = [getattr(base, "turn", base).last_step for base in self._bases]
        reached = np.hstack([step.reached for step in steps])
        if (over != self._bases[0].stepper.is_over(reached))[~was_over].any():
            self.change = "when turns end"
        begins = self.over & over if self._mode == "SameStep" else was_over
        self._compare(plain, observation, info, begins, "the actions or the dice" if legal.all() else ILLEGAL)
        return np.stack((plain_rewards, rewards))

    def _stepped(self, env: Any, actions: IntArray) -> tuple[Any, Any, Any, Any]:
        """Return the observation, the rewards [B], which turns are over [B], and the info of a step."""
        if self._is_sb3:
            observation, rewards, over, infos = env.step(actions)
            none = np.zeros(self.masks.shape[1])
            masks = np.array([info.get("action_mask", none) for info in infos])
            has_mask = np.array(["action_mask" in info for info in infos]) & ~over  # after an end, that of the old turn
            return observation, rewards, over, {"action_mask": masks, "_action_mask": has_mask}
        given = int(actions[0]) if self.is_single else actions
        observation, rewards, terminated, truncated, info = env.step(given)
        over = np.logical_or(terminated, truncated)
        return observation, np.atleast_1d(rewards), np.atleast_1d(over), info

    def begin_anew(self) -> bool:
        """Begin turns that are over, if that takes a reset; return whether it does."""
        if self._mode != "Disabled":
            return False
        (observation, info), (plain, _) = (
            env.reset(options=None if self.is_single else {"reset_mask": self.over}) for env in (self._env, self._twin)
        )
        begins = self.over
        self.over = np.zeros(self.size, np.bool_)
        self._compare(plain, observation, info, begins, "the dice")
        return True

    def _compare(self, plain: NDArray[Any], observation: Any, info: Any, begins: BoolArray, change: str) -> None:
        """Store what is shown, and compare positions, dice and masks with those of the twin.

        Args:
            plain: [B, O] observations of the twin, or [O].
            observation: what the wrappers show.
            info: the info with their action masks, if there are any.
            begins: [B] whether each turn begins.
            change: what differs if turns that do not begin do.
        """
        differs = np.concatenate(
            [
                (base.states != twin.states)
                | (base.np_random.bit_generator.state != twin.np_random.bit_generator.state)
                for base, twin in zip(self._bases, self._plain_bases, strict=True)
            ]
        )
        goes_on = ~self.over | (self._mode == "SameStep")
        self.shown = Shown(np.atleast_2d(plain), self.masks, deepcopy(observation), goes_on)
        if not self.change and differs.any():
            self.change = change if (differs & ~begins).any() else "where turns begin"
        elif not self.change and not (self._is_legal_mask(info) and self._is_legal_mask(self._asked_masks())):
            self.change = MASKS

    def _asked_masks(self) -> dict[str, Any]:
        """Return what `action_masks()` returns, like an info."""
        if self._is_sb3:
            return {"action_mask": np.array(self._env.env_method("action_masks"))}
        return {"action_mask": self._env.get_wrapper_attr("action_masks")()} if self.is_single else {}

    def _is_legal_mask(self, info: dict[str, Any]) -> bool:
        """Return whether the masks of an info, if any, are those of the legal actions."""
        if "action_mask" not in info:
            return True
        rows = self.shown.goes_on & info.get("_action_mask", True)
        return bool((np.atleast_2d(info["action_mask"])[rows] == self.shown.masks[rows]).all())


def _bases_of(env: Any) -> list[Any]:
    """Return the innermost environments."""
    members = vars(env.unwrapped).get("envs", env.unwrapped)
    return [member.unwrapped for member in (members if isinstance(members, list | tuple) else [members])]


def _plain(inner: Any) -> Any:
    """Return a copy of an environment without wrappers in it, as if it were of its first known class."""
    kind = first_known(type(inner))
    if "envs" not in vars(inner):
        twin = deepcopy(inner)
        twin.__class__ = kind
        return twin
    plain = [_plain(env) for env in _bases_of(inner)]
    if not isinstance(inner.envs, list | tuple):
        return kind(plain[0])
    mode = {"autoreset_mode": inner.autoreset_mode} if hasattr(inner, "autoreset_mode") else {}
    return kind([lambda env=env: env for env in plain], **mode)
