"""Show the positions of a game by other observations: the turns stay the same, and so does every exact value."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import IntArray
from stb_gym.checks import check_choice
from stb_gym.envs.table_stepper import LARGEST_DENSE_TABLE, TableStepper, table_stepper
from stb_gym.envs.wrappers import VectorAttributes
from stb_gym.games import Game
from stb_gym.layers import spaces_of
from stb_gym.tracking import ProgressBar
from stb_gym.words import needed, words_of

PICTURE_SIZE = 48, 24  # pixels
HASH_BITS = 64
NOT_INSIDE = "RepresentObservation needs the observations of the game itself: put it inside of other wrappers"


def _unary(stepper: TableStepper, states: IntArray) -> NDArray[Any]:
    """Return, for a number from 0 to h, h bits of which the first v are 1 if it is v."""
    shown = stepper.observation[states]
    highest = shown.max(axis=0)
    column = np.arange(shown.shape[1]).repeat(highest)
    least = np.concatenate([np.arange(1, high + 1) for high in highest])
    return (shown[:, column] >= least).astype(np.uint8)


def _index(stepper: TableStepper, states: IntArray) -> NDArray[Any]:
    if len(states) ** 2 > LARGEST_DENSE_TABLE:
        raise ValueError(
            f"{stepper.game} has {len(states):,} observations, too many for one bit each: choose another representation"
        )
    return np.eye(len(states), dtype=np.uint8)


def _hash(stepper: TableStepper, states: IntArray) -> NDArray[Any]:
    return np.random.default_rng(0).integers(2, size=(len(states), HASH_BITS), dtype=np.uint8)


def _projection(stepper: TableStepper, states: IntArray) -> NDArray[Any]:
    shown = stepper.observation[states]
    width = shown.shape[1]
    matrix = np.random.default_rng(0).standard_normal((width, width)) / np.sqrt(width)
    return (shown @ matrix).astype(np.float32)


def _words(stepper: TableStepper, states: IntArray) -> NDArray[Any]:
    """Return the sentences, with one bit for every character at every place."""
    sentences = [stepper.describe(state) for state in states.tolist()]
    letters = np.array([list(sentence.ljust(max(map(len, sentences)))) for sentence in sentences])
    return np.concatenate([letters == letter for letter in np.unique(letters)], axis=1).astype(np.uint8)


def _picture(stepper: TableStepper, states: IntArray) -> NDArray[Any]:
    """Return shades of grey from -1 to 1."""
    image: Any = needed("PIL.Image", "Pillow", "pictures")
    words = words_of(stepper.game)
    shades = []
    with ProgressBar("positions drawn", len(states)) as bar:
        for done, state in enumerate(states.tolist(), 1):
            picture = words.picture(*stepper.faces_at(state))
            small = image.fromarray(picture).convert("L").resize(PICTURE_SIZE)
            shades.append(np.asarray(small).ravel())
            bar.tell(done)
    return (np.array(shades) / 127.5 - 1).astype(np.float32)


def _without_roll(stepper: TableStepper, states: IntArray) -> NDArray[Any]:
    return stepper.observe_afterstates(stepper.origin_of(states))


def _roll_alone(stepper: TableStepper, states: IntArray) -> NDArray[Any]:
    return stepper.observation[states] - stepper.observe_afterstates(stepper.origin_of(states))[:, :-1]


REPRESENTATIONS: dict[str, Callable[[TableStepper, IntArray], NDArray[Any]]] = {
    "unary": _unary,
    "index": _index,
    "hash": _hash,
    "projection": _projection,
    "words": _words,
    "picture": _picture,
    "without-roll": _without_roll,
    "roll-alone": _roll_alone,
}


class Representation:
    """The observations of one representation of a game.

    Args:
        game: the rules.
        representation: a key of REPRESENTATIONS.

    Attributes:
        space: the space of an observation.
    """

    def __init__(self, game: Game, representation: str):
        stepper = table_stepper(game, "uint8")
        shown, states = np.unique(stepper.observation[:-1], axis=0, return_index=True)
        codes = REPRESENTATIONS[representation](stepper, states)
        if not (shown[0] == 0).all():  # what an illegal action leads to
            shown, codes = (np.pad(rows, ((1, 0), (0, 0))) for rows in (shown, codes))
        self._factors = np.random.default_rng(0).integers(2**62, size=shown.shape[1])
        keys = shown @ self._factors
        order = keys.argsort()
        self._keys, self._codes = keys[order], codes[order]
        self.space = (
            gym.spaces.Box(np.zeros_like(codes[0]), codes.max(axis=0), dtype=np.uint8)
            if codes.dtype == np.uint8
            else gym.spaces.Box(-np.inf, np.inf, codes.shape[1:])
        )

    def __call__(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Return the codes [..., K] of the observations [..., O] of the game.

        Raises:
            ValueError: if the game never shows such an observation.
        """
        keys = observations.astype(np.int64) @ self._factors
        found = self._keys.searchsorted(keys).clip(max=len(self._keys) - 1)
        if (self._keys[found] != keys).any():
            raise ValueError(NOT_INSIDE)
        return self._codes.take(found, axis=0)  # a copy, also of one row


@lru_cache(maxsize=32)
def _representation_of(game: Game, representation: str) -> Representation:
    """Return a representation of a game, from a cache."""
    return Representation(game, representation)


def representation_for(env: Any, representation: str) -> Representation:
    """Return the representation for an environment.

    Args:
        env: an environment of this library, single or vector.
        representation: a key of REPRESENTATIONS.

    Raises:
        ValueError: if there is no such representation, the environment has no tables or too many positions for it, or a
            wrapper changes the observations already.
    """
    check_choice("representation", representation, list(REPRESENTATIONS))
    inside = env.unwrapped
    stepper = getattr(inside, "stepper", None)
    own, shown = (spaces_of(layer)[0] for layer in (inside, env))
    if not isinstance(stepper, TableStepper) or own.shape != stepper.observation.shape[1:]:
        raise ValueError("RepresentObservation needs an environment of turns whose game fits into tables")
    if not isinstance(shown, gym.spaces.Box) or shown.shape != own.shape or (shown.high != own.high).any():
        raise ValueError(NOT_INSIDE)
    return _representation_of(stepper.game, representation)


class RepresentObservation(gym.ObservationWrapper[NDArray[Any], np.int64, NDArray[Any]], RecordConstructorArgs):
    """A wrapper that shows the positions of a game by other observations.

    Masks, dice and rewards stay the same. So a `RegretMeter` made with the wrapped environment is as exact as before,
    and the same learner can be measured with every representation:

    - "unary": a number v from 0 to h becomes h bits, of which the first v are 1;
    - "index": one bit for every position, so nothing that is learned at one carries over to another;
    - "hash": 64 random bits for every position;
    - "projection": the observation times a fixed matrix of random normal numbers;
    - "words": the sentence that describes the position, a bit for every character at every place;
    - "picture": what `render_mode="rgb_array"` draws, in 48 times 24 shades of grey from -1 to 1;
    - "without-roll": the roll is missing, and with it what the best move depends on; masks still tell something of it;
    - "roll-alone": only the roll is shown.

    The last two show several positions alike, so that the policy that plays perfectly is out of reach.

    Args:
        env: an environment of this library without wrappers that change observations.
        representation: one of these names.

    Raises:
        ValueError: if there is no such representation, the environment has no tables or too many positions for it, or a
            wrapper changes the observations already.
        ImportError: if pictures need Pillow and it is not installed.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> env = stb_gym.envs.RepresentObservation(gym.make("stb_gym/ShutTheBox-v0"), "index")
        >>> observation, _ = env.reset(seed=0)
        >>> observation.shape, observation.sum()
        ((5622,), np.uint64(1))
        >>> stb_gym.RegretMeter(env)(lambda observations, masks: masks.argmax(axis=1)).regret > 0
        True
    """

    @checked
    def __init__(self, env: gym.Env[NDArray[Any], np.int64], representation: str):
        RecordConstructorArgs.__init__(self, representation=representation)
        super().__init__(env)
        self._represent = representation_for(env, representation)
        self.observation_space = self._represent.space

    def observation(self, observation: NDArray[Any]) -> NDArray[Any]:
        """Return the code [K] of an observation [O]."""
        return self._represent(observation)


class VectorRepresentObservation(VectorAttributes, gym.vector.VectorObservationWrapper):
    """The vector version of `RepresentObservation`, in every autoreset mode; it changes `final_obs`, too.

    Other attributes of the environment, such as `action_masks()` and `snapshot()`, are available here, too.

    Args:
        env: a vector environment of this library without wrappers that change observations.
        representation: see `RepresentObservation`.

    Raises:
        ValueError: see `RepresentObservation`.
        ImportError: see `RepresentObservation`.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> envs = stb_gym.envs.VectorRepresentObservation(gym.make_vec("stb_gym/Threes-v0", num_envs=64), "unary")
        >>> observations, _ = envs.reset(seed=0)
        >>> observations.shape
        (64, 60)
    """

    @checked
    def __init__(self, env: gym.vector.VectorEnv[Any, Any, Any], representation: str):
        gym.vector.VectorWrapper.__init__(self, env)  # `VectorObservationWrapper` would refuse SAME_STEP
        self._represent = representation_for(env, representation)
        self.single_observation_space = self._represent.space
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)

    def step(self, actions: IntArray) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Make a move in every game."""
        *transition, infos = super().step(actions)
        if "final_obs" in infos:
            infos["final_obs"] = self._represent(infos["final_obs"])
        observations, rewards, terminated, truncated = transition
        return observations, rewards, terminated, truncated, infos

    def observations(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Return the codes [B, K] of observations [B, O]."""
        return self._represent(observations)
