"""Wrappers for libraries that look for the action mask in the observation, as replay buffers have to.

Libraries differ in the names and in the type of the mask that they ask for: `LAYOUTS` knows both, by library.
"""

from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from stb_gym.envs.env import TurnEnv
from stb_gym.envs.vector_env import TurnVectorEnv
from stb_gym.games import IntArray, check_choice

Masked = dict[str, NDArray[Any]]


class Layout(NamedTuple):
    """An observation and its action mask in a dictionary.

    Attributes:
        observation, mask: the names of the two entries.
        dtype: what the mask is made of. int8 is a `MultiBinary` space, as Gymnasium has it; others are a `Box`.
    """

    observation: str
    mask: str
    dtype: type[Any]

    def space(self, observation: gym.Space[Any], action: gym.Space[Any]) -> gym.spaces.Dict:
        """The space of both, of a single environment."""
        assert isinstance(action, gym.spaces.Discrete)
        actions = int(action.n)
        binary = gym.spaces.MultiBinary(actions)
        mask = binary if self.dtype is np.int8 else gym.spaces.Box(0, 1, (actions,), self.dtype)
        return gym.spaces.Dict({self.observation: observation, self.mask: mask})

    def together(self, observation: NDArray[Any], mask: NDArray[Any]) -> Masked:
        """The observation [..., O] and its mask [..., A], neither copied, unless a mask is to become one of floats."""
        as_asked = mask.astype(self.dtype) if self.dtype is np.float32 else mask.view(self.dtype)
        return {self.observation: observation, self.mask: as_asked}


LAYOUTS = {
    "gymnasium": Layout("observation", "action_mask", np.int8),  # stable-baselines3 takes it as well
    "rllib": Layout("observations", "action_mask", np.float32),
    "skrl": Layout("observation", "action_mask", np.float32),
    "tianshou": Layout("obs", "mask", np.bool_),
    "torchrl": Layout("observation", "action_mask", np.bool_),
}


class MaskInObservation(gym.Wrapper[Any, np.int64, Any, np.int64], RecordConstructorArgs):
    """Observations become a dictionary of the observation [O] as it was and the action mask [A], 1 = legal.

    `gym.make` makes such environments from an id with `Masked` before the version. Infos stay as they are.

    Args:
        env: an environment whose infos have an "action_mask".
        names: the library after which the two entries are called, and of whose type the mask is:

            - "gymnasium" (and stable-baselines3): `observation`, `action_mask`, of int8;
            - "rllib": `observations`, `action_mask`, of float32;
            - "skrl": `observation`, `action_mask`, of float32;
            - "tianshou": `obs`, `mask`, of bool;
            - "torchrl": `observation`, `action_mask`, of bool.

    Attributes:
        together: from observations [..., O] and masks [..., A] to the dictionary of both.

    Raises:
        ValueError: if there are no names of such a library, naming those there are.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> env = gym.make("stb_gym/ThreesMasked-v0", mask_names="tianshou")
        >>> observation, _ = env.reset(seed=0)
        >>> observation["mask"]
        array([ True,  True,  True,  True,  True])
    """

    def __init__(self, env: gym.Env[NDArray[Any], np.int64], names: str = "gymnasium"):
        RecordConstructorArgs.__init__(self, names=names)
        super().__init__(env)
        check_choice("mask names", names, list(LAYOUTS))
        layout = LAYOUTS[names]
        self.observation_space = layout.space(env.observation_space, env.action_space)
        self.together = layout.together

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Masked, dict[str, Any]]:
        """Begin a turn."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self.together(observation, info["action_mask"]), info

    def step(self, action: np.int64) -> tuple[Masked, Any, bool, bool, dict[str, Any]]:
        """Make a move."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self.together(observation, info["action_mask"]), reward, terminated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """[A] True = legal, as sb3-contrib asks for it."""
        masks: NDArray[np.bool_] = self.env.get_wrapper_attr("action_masks")()
        return masks


class VectorMaskInObservation(gym.vector.VectorWrapper):
    """The same for many turns at once: [B, O] and [B, A], in every autoreset mode, at the speed of the environment.

    Whatever else the environment has, such as `action_masks()`, `legal_sample()` and `snapshot()`, is there too.
    `final_obs` is to be read where `_final_obs` says so; its masks are those of `final_info`, which have a 0 in every
    place of a game that goes on as well.

    Args:
        env: a vector environment of turns.
        names: see `MaskInObservation`.

    Attributes:
        together: see `MaskInObservation`.

    Raises:
        ValueError: if there are no names of such a library, naming those there are.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> envs = gym.make_vec("stb_gym/ThreesMasked-v0", num_envs=4096, mask_names="rllib")
        >>> observations, _ = envs.reset(seed=0)
        >>> observations["action_mask"].shape, observations["action_mask"].dtype
        ((4096, 5), dtype('float32'))
    """

    def __init__(self, env: TurnVectorEnv, names: str = "gymnasium"):
        super().__init__(env)
        check_choice("mask names", names, list(LAYOUTS))
        layout = LAYOUTS[names]
        self.single_observation_space = layout.space(env.single_observation_space, env.single_action_space)
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)
        self.together = layout.together

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Masked, dict[str, Any]]:
        """Begin all turns, or those of `options["reset_mask"]`."""
        observation, infos = self.env.reset(seed=seed, options=options)
        return self.together(observation, infos["action_mask"]), infos

    def step(self, actions: IntArray) -> tuple[Masked, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Make a move in every game."""
        observation, reward, terminated, truncated, infos = self.env.step(actions)
        if "final_obs" in infos:
            infos["final_obs"] = self.together(infos["final_obs"], infos["final_info"]["action_mask"])
        return self.together(observation, infos["action_mask"]), reward, terminated, truncated, infos

    def __getattr__(self, name: str) -> Any:
        """What the environment has besides."""
        if name == "env":  # while a copy or a pickle of this is made, it has none yet
            raise AttributeError(name)
        return getattr(self.env, name)


def make_masked(mask_names: str = "gymnasium", **arguments: Any) -> MaskInObservation:
    """What `gym.make` calls for an id of a masked environment; the arguments are those of `TurnEnv`."""
    return MaskInObservation(TurnEnv(**arguments), mask_names)


def make_masked_vec(mask_names: str = "gymnasium", **arguments: Any) -> VectorMaskInObservation:
    """What `gym.make_vec` calls for an id of a masked environment; the arguments are those of `TurnVectorEnv`."""
    return VectorMaskInObservation(TurnVectorEnv(**arguments), mask_names)


# Where `gym.make` reads which render modes there are, and which it has to add by wrappers.
make_masked.metadata = TurnEnv.metadata  # type: ignore[attr-defined]
