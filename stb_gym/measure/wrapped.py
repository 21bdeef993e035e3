"""Show positions to an agent as its environment does, through all wrappers."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from itertools import pairwise
from operator import attrgetter, itemgetter
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import AddRenderObservation
from numpy.typing import NDArray

from stb_gym.arrays import BoolArray
from stb_gym.envs import MaskInObservation, VectorMaskInObservation, make_turns
from stb_gym.games import Game
from stb_gym.layers import is_known, is_normalising, is_running, layers_of, normalises_rewards, spaces_of
from stb_gym.measure.tensors import joined, map_entries
from stb_gym.messages import quoted
from stb_gym.trial import MASKS, Trial, try_out

CHANGES_OF_TRAINING = ("when turns end", "where turns begin")  # an agent may learn from other turns than it plays
TURNS_SHOWN = 64


class AgentView:
    """Turns observations of the rules into what an agent sees through the wrappers of its environment.

    Args:
        env: an environment as `stb_gym.solve` takes it, or the game itself for its plain environment.
        game: the rules.
        trial: what happened when the wrappers were tried out; None if all are known.

    Attributes:
        game: the rules.
        space: the observation space of a single environment, outside all wrappers.
        width: the length of an observation inside all wrappers.
        reward_scale: rewards divided by utilities; None if the rewards are normalised, or not a multiple of utilities.
        memory: the reason why observations may depend on more than the position; "" if they do not.
        tried: the name of the outermost wrapper that was tried out; "" if none was.
        change: what the wrappers change about the turns; "" if nothing. See `Trial`.

    Raises:
        ValueError: if the wrappers are in other processes.
    """

    def __init__(self, env: Any, game: Game, trial: Trial | None):
        layers = [] if env is game else layers_of(env)
        plain = gym.spaces.Box(0, np.array(game.observation_high), dtype=np.float32)
        if layers and not hasattr(layers[0], "stepper"):
            raise ValueError(
                f"{type(layers[0]).__name__} hides the wrappers of its environments: make the meter with one of these, "
                "or with a DummyVecEnv of them"
            )
        spaces = [spaces_of(layer)[0] for layer in layers] or [plain]
        self.game = game
        self.space = spaces[-1]
        self.width: int = spaces[0].shape[0]
        scale = float(getattr(layers[0], "reward_scale", 1)) if layers else 1.0
        self.reward_scale = None if any(map(normalises_rewards, layers)) else scale
        self.memory = next(filter(None, (_memory(outer, inside) for inside, outer in pairwise(layers))), "")
        self._dtype = spaces[0].dtype
        self._wrappers = layers[1:]
        self.tried = self.change = ""
        self._of_model: tuple[Any, AgentView] | None = None
        if trial is not None:
            self.tried, self.change = trial.name, trial.change
            if self.reward_scale is not None:
                self.reward_scale = trial.reward_factor and scale * trial.reward_factor
            if not (self.memory or self._shows(trial)):
                self.memory = f"what {trial.name} shows may depend on more than the position"

    def __call__(self, observations: NDArray[Any], masks: BoolArray) -> Any:
        """Return what the agent sees: new arrays with B rows, or a dictionary of them.

        Args:
            observations: [B, O] observations of the rules.
            masks: [B, A] their legal actions.

        Raises:
            ValueError: if it may depend on more than the position.
        """
        if self.memory:
            raise ValueError(
                f"{self.memory}: use RegretMeter.sample or RecordRegret, or a gym.ObservationWrapper, or make the "
                "meter with the environment inside it"
            )
        seen: Any = observations.astype(self._dtype)
        for wrapper in self._wrappers:
            if show := _shown_by(wrapper):
                seen = show(seen, masks)
        return seen

    def check_model(self, model: Any, masked: bool) -> None:
        """Raise ValueError if a model, or the policy of one, was made for other observations or actions.

        Args:
            model: the model.
            masked: whether it chooses among legal actions only.
        """
        actions = getattr(model, "action_space", None)
        observations = getattr(model, "observation_space", None)
        allowed = len(self.game.actions)
        if actions is not None and not (isinstance(actions, gym.spaces.Discrete) and actions.n == allowed):
            raise ValueError(f"{self.game} has {allowed} actions, but the agent chooses from {quoted(actions)}")
        if observations is not None:
            expected, shown = (map_entries(attrgetter("shape"), space) for space in (observations, self.space))
            if expected != shown:
                raise ValueError(
                    f"the agent observes {expected}, but the meter shows {shown}: make the meter with the agent's "
                    "environment"
                )
            if map_entries(_bounds, observations) != map_entries(_bounds, self.space):
                raise ValueError(
                    "the agent observes numbers with other bounds than the meter shows: make the meter with the "
                    "agent's environment"
                )
        normalising = getattr(model, "get_vec_normalize_env", lambda: None)()
        is_normalised = normalising is not None and getattr(normalising, "norm_obs", True)
        if is_normalised and not any(map(is_normalising, self._wrappers)):
            raise ValueError(
                "the agent's observations are normalised: make the meter with its VecNormalize environment"
            )
        env = getattr(model, "get_env", lambda: None)()
        if env is not None and hasattr(layers_of(env)[0], "stepper"):
            self._check_environment(env, masked)

    def learned_scale(self, model: Any) -> float | None:
        """Return the `reward_scale` of the environment that a model learns from; without one, that of the meter's."""
        own = self._of_model
        is_own = own is not None and own[0] is getattr(model, "get_env", lambda: None)()
        return own[1].reward_scale if own is not None and is_own else self.reward_scale

    def _check_environment(self, env: Any, masked: bool) -> None:
        """Raise ValueError if the environment of a model shows positions otherwise than the meter."""
        if self._of_model is None or self._of_model[0] is not env:
            self._of_model = env, AgentView(env, self.game, try_out(env))
        own = self._of_model[1]
        harmless = CHANGES_OF_TRAINING if masked else (*CHANGES_OF_TRAINING, MASKS)
        if own.change and own.change not in harmless:
            raise ValueError(f"{own.tried} of the agent's environment changes {own.change}: use RecordRegret there")
        kinds = [[type(wrapper) for wrapper in view._wrappers if not is_known(wrapper)] for view in (self, own)]
        if self.memory or (own.memory and kinds[0] == kinds[1]) or own.width != self.width:
            return
        if own.memory or not all(alike(self(*position), own(*position)) for position in self._positions()):
            raise ValueError(
                "the agent's own environment shows other observations than the meter: make the meter with it, or with "
                "one that has the same wrappers and statistics"
            )

    def _positions(self) -> Iterator[tuple[NDArray[Any], BoolArray]]:
        """Yield observations and masks of some random turns."""
        turns = make_turns(self.game, num_envs=TURNS_SHOWN, autoreset_mode="SameStep")
        turns.reset(seed=0)
        for _ in range(turns.stepper.longest):
            yield turns.stepper.observe(turns.states), turns.action_masks()
            turns.step(turns.legal_sample())

    def _shows(self, trial: Trial) -> bool:
        """Return whether the wrappers of a trial showed positions as this view does."""
        if not trial.shown:
            return True
        plain, masks, goes_on = (
            np.concatenate([getattr(shown, name) for shown in trial.shown]) for name in ("plain", "masks", "goes_on")
        )
        join = np.stack if trial.is_single else np.concatenate
        observations = joined([shown.observation for shown in trial.shown], join)
        rows = np.flatnonzero(goes_on)
        return alike(self(plain[rows], masks[rows]), map_entries(lambda entry: entry[rows], observations))


def alike(one: Any, other: Any) -> bool:
    """Return whether two observations, or dictionaries of them, are the same but for rounding and types."""
    if isinstance(one, dict):
        same_names = isinstance(other, dict) and one.keys() == other.keys()
        return same_names and all(alike(one[name], other[name]) for name in one)
    one, other = np.asarray(one), np.asarray(other)
    if not (one.dtype.kind in "fiub" and other.dtype.kind in "fiub"):
        return np.array_equal(one, other)
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-5, atol=1e-6, equal_nan=True)


def _bounds(space: Any) -> Any:
    """Return the lowest and the highest numbers of a space, rounded; None if it has none."""
    if not isinstance(space, gym.spaces.Box):
        return None
    return np.round(space.low, 4).tolist(), np.round(space.high, 4).tolist()


def _memory(wrapper: Any, inside: Any) -> str:
    """Return an error message if what a wrapper shows may depend on more than the position; else ""."""
    if isinstance(wrapper, MaskInObservation | VectorMaskInObservation) or is_normalising(wrapper):
        return ""
    message = f"what {type(wrapper).__name__} shows may depend on more than the position"
    if is_running(wrapper):
        return f"{message} until its update_running_mean is False"
    observations, actions = spaces_of(wrapper)
    observations_inside, actions_inside = spaces_of(inside)
    hides = _shown_by(wrapper) is None and observations != observations_inside
    return message if hides or actions != actions_inside or isinstance(wrapper, AddRenderObservation) else ""


def _shown_by(wrapper: Any) -> Callable[[Any, BoolArray], Any] | None:
    """Return a function that applies a wrapper to B observations, given their masks; None if it changes none."""
    if isinstance(wrapper, MaskInObservation | VectorMaskInObservation):
        return lambda seen, masks: wrapper.together(seen, masks.astype(np.int8))
    if is_normalising(wrapper):
        return lambda seen, masks: wrapper.normalize_obs(seen)
    if isinstance(wrapper, gym.ObservationWrapper):
        return partial(_one_by_one, wrapper)
    if isinstance(wrapper, gym.vector.VectorObservationWrapper):
        return partial(_many_at_once, wrapper)
    return None


def _one_by_one(wrapper: Any, seen: Any, masks: BoolArray) -> Any:
    """Apply a wrapper of single environments to each observation."""
    rows = [map_entries(itemgetter(row), seen) for row in range(len(masks))]
    return joined([deepcopy(wrapper.observation(row)) for row in rows], np.stack)


def _many_at_once(wrapper: Any, seen: Any, masks: BoolArray) -> Any:
    """Apply a vector wrapper to observations.

    It receives as many observations at a time as it has environments. The last observation fills up the rest.
    """
    count = wrapper.num_envs
    rows = np.arange(-(-len(masks) // count) * count).clip(max=len(masks) - 1)
    batches = [map_entries(itemgetter(batch), seen) for batch in rows.reshape(-1, count)]
    shown = joined([deepcopy(wrapper.observations(batch)) for batch in batches], np.concatenate)
    return map_entries(itemgetter(slice(len(masks))), shown)
