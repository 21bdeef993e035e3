"""Wrappers that put the action mask into the observation, for libraries that look for it there.

Libraries expect different names and types of the mask: `LAYOUTS` holds both, by library.
"""

from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import BoolArray, IntArray
from stb_gym.checks import check_choice
from stb_gym.messages import quoted

Masked = dict[str, NDArray[Any]]


class Layout(NamedTuple):
    """An observation and its action mask in a dictionary.

    Attributes:
        observation, mask: the names of the two entries.
        dtype: the type of the mask. Its space is `MultiBinary` for int8, else a `Box`.
    """

    observation: str
    mask: str
    dtype: type[Any]

    def space(self, observation: gym.Space[Any], action: gym.Space[Any]) -> gym.spaces.Dict:
        """Return the space of the dictionary, given the spaces of a single environment."""
        if not isinstance(action, gym.spaces.Discrete):
            raise TypeError(f"masks need a Discrete action space, not {quoted(action)}")
        box = gym.spaces.Box(0, 1, (int(action.n),), self.dtype)
        mask = gym.spaces.MultiBinary(int(action.n)) if self.dtype is np.int8 else box
        return gym.spaces.Dict({self.observation: observation, self.mask: mask})

    def together(self, observation: NDArray[Any], mask: NDArray[Any]) -> Masked:
        """Return the dictionary of observations [..., O] and masks [..., A]. Only masks of floats are copied."""
        typed = mask.astype(self.dtype) if self.dtype is np.float32 else mask.view(self.dtype)
        return {self.observation: observation, self.mask: typed}


LAYOUTS = {
    "gymnasium": Layout("observation", "action_mask", np.int8),  # stable-baselines3 takes it as well
    "rllib": Layout("observations", "action_mask", np.float32),
    "skrl": Layout("observation", "action_mask", np.float32),
    "tianshou": Layout("obs", "mask", np.bool_),
    "torchrl": Layout("observation", "action_mask", np.bool_),
}


class MaskInObservation(gym.Wrapper[Any, np.int64, Any, np.int64], RecordConstructorArgs):
    """A wrapper whose observation is a dictionary: the original observation [O] and the action mask [A], 1 = legal.

    `gym.make` returns it for an id with `Masked` before the version. Infos are unchanged.

    Args:
        env: an environment whose infos have an "action_mask".
        names: the library that determines the names of the two entries and the type of the mask:

            - "gymnasium" (and stable-baselines3): `observation`, `action_mask`, of int8;
            - "rllib": `observations`, `action_mask`, of float32;
            - "skrl": `observation`, `action_mask`, of float32;
            - "tianshou": `obs`, `mask`, of bool;
            - "torchrl": `observation`, `action_mask`, of bool.

    Attributes:
        together: the function from observations [..., O] and masks [..., A] to the dictionary.

    Raises:
        TypeError: if the action space is not Discrete.
        ValueError: if `names` is not one of these libraries.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> env = gym.make("stb_gym/ThreesMasked-v0", mask_names="tianshou")
        >>> observation, _ = env.reset(seed=0)
        >>> observation["mask"]
        array([ True,  True,  True,  True,  True])
    """

    @checked
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

    def action_masks(self) -> BoolArray:
        """Return the action mask [A], True = legal. The name is that of sb3-contrib."""
        masks: BoolArray = self.env.get_wrapper_attr("action_masks")()
        return masks


class VectorAttributes:
    """Gives a wrapper of a vector environment the attributes of that environment."""

    env: Any

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the environment."""
        if name == "env":  # not set yet while a copy or a pickle is made
            raise AttributeError(name)
        return getattr(self.env, name)


class VectorMaskInObservation(VectorAttributes, gym.vector.VectorWrapper):
    """The vector version of `MaskInObservation`: observations [B, O] and masks [B, A], in every autoreset mode.

    Other attributes of the environment, such as `action_masks()`, `legal_sample()` and `snapshot()`, are available
    here, too. `final_obs` is valid where `_final_obs` is True. Its masks are those of `final_info`, which are 0 for
    games that continue.

    Args:
        env: a vector environment whose infos have an "action_mask".
        names: see `MaskInObservation`.

    Attributes:
        together: see `MaskInObservation`.

    Raises:
        TypeError: if the action space is not Discrete.
        ValueError: if `names` is not one of these libraries.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> envs = gym.make_vec("stb_gym/ThreesMasked-v0", num_envs=4096, mask_names="rllib")
        >>> observations, _ = envs.reset(seed=0)
        >>> observations["action_mask"].shape, observations["action_mask"].dtype
        ((4096, 5), dtype('float32'))
    """

    @checked
    def __init__(self, env: gym.vector.VectorEnv[Any, Any, Any], names: str = "gymnasium"):
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
