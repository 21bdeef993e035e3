"""For stable-baselines3: its models learn from the package's vector environment, and their exact regret is logged.

Importing this module starts stable-baselines3 and torch; `import stb_gym` does not.
"""

import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from stb_gym.envs import TurnVectorEnv
from stb_gym.games import check_integer
from stb_gym.measure import MOST_TURNS, AnyEvaluation, RegretMeter, save_policy
from stb_gym.rounds import SelfPlayVectorEnv

try:
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise ImportError("stb_gym.sb3 needs stable-baselines3: pip install stable-baselines3") from error

Step = tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]


class TurnVecEnv(VecEnv):
    """Adapts the package's vector environment to stable-baselines3.

    Its steps, with masks, take a quarter of the time of 64 or more environments in a `DummyVecEnv`. Observations are
    those of `envs`. The infos of a turn that goes on are empty; those of one that ends are its own, such as
    `final_score`, and besides `terminal_observation`, `TimeLimit.truncated` and, as stable-baselines3's Monitor would
    add, `episode` with return, length and seconds. sb3-contrib finds the masks by `env_method("action_masks")`.

    Args:
        envs: a `TurnVectorEnv` in SAME_STEP mode, as it is, with the mask in its observations, or otherwise wrapped.

    Raises:
        ValueError: if `envs` is something else, or in another autoreset mode.

    Example:
        >>> import gymnasium as gym, stb_gym.sb3
        >>> envs = gym.make_vec("stb_gym/ShutTheBox-v0", num_envs=8, autoreset_mode="SameStep")
        >>> stb_gym.sb3.TurnVecEnv(envs).reset().shape
        (8, 20)
    """

    def __init__(self, envs: gym.vector.VectorEnv[Any, Any, Any]):
        inner = getattr(envs, "unwrapped", envs)
        if not isinstance(inner, TurnVectorEnv) or isinstance(inner, SelfPlayVectorEnv):  # whose rewards come too late
            raise ValueError(f"TurnVecEnv adapts what gym.make_vec makes of an id of stb_gym, not {envs}")
        if inner.autoreset_mode != AutoresetMode.SAME_STEP:
            raise ValueError(f"stable-baselines3 needs autoreset mode SameStep, not {inner.autoreset_mode.value}")
        self.envs = envs
        self._actions = np.zeros(envs.num_envs, np.int64)
        self._length = np.zeros(envs.num_envs, np.int64)
        self._began = time.time()
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def reset(self) -> Any:
        """Begin a turn in every game, with the seed and options given since the last reset.

        Raises:
            ValueError: if `set_options` was given other options for some of the games.
        """
        if any(options != self._options[0] for options in self._options):
            raise ValueError("all turns begin alike: call set_options with one dictionary")
        observation, _ = self.envs.reset(seed=self._seeds[0], options=self._options[0] or None)
        self._reset_seeds()
        self._reset_options()
        self._length[:] = 0
        return observation

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Store the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> Step:
        """Make the moves; where a turn is over, the observation is already that of the next turn."""
        observation, reward, terminated, truncated, infos = self.envs.step(self._actions)
        over = terminated | truncated
        self._length += 1
        told: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for game in over.nonzero()[0].tolist():
            told[game] = self._ended(game, float(reward[game]), bool(terminated[game]), infos)
        self._length[over] = 0
        return observation, reward.astype(np.float32), over, told

    def _ended(self, game: int, reward: float, terminated: bool, infos: dict[str, Any]) -> dict[str, Any]:
        """The infos of a turn that ends. Only the last reward of a turn is not 0, so it is the return."""
        last, final = infos["final_obs"], infos["final_info"]
        seconds = round(time.time() - self._began, 6)
        return {
            **{name: final[name][game] for name in final if name[0] != "_" and final[f"_{name}"][game]},
            "terminal_observation": {k: v[game] for k, v in last.items()} if isinstance(last, dict) else last[game],
            "TimeLimit.truncated": not terminated,
            "episode": {"r": round(reward, 6), "l": int(self._length[game]), "t": seconds},
        }

    def close(self) -> None:
        """Close the vector environment."""
        self.envs.close()

    def get_images(self) -> Any:
        """A picture of every game."""
        return self.envs.render()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the vector environment, or the space of one game, once for each chosen game."""
        of_one = self if attr_name in ("observation_space", "action_space") else self.envs.unwrapped
        return [getattr(of_one, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: the games share everything."""
        raise NotImplementedError("the games of a vector environment have no attributes of their own")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """The result of a method of the vector environment, a row for each chosen game."""
        result = getattr(self.envs.unwrapped, method_name)(*method_args, **method_kwargs)
        return [result[game] for game in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Whether it is the Monitor that is asked for, whose statistics are kept here; no game has another wrapper."""
        return [wrapper_class is Monitor] * len(list(self._get_indices(indices)))


class RegretCallback(BaseCallback):
    """Measures a model while it learns: how far from perfect play is its policy?

    It measures at the start, before the first rollout after each multiple of `every` steps (during a rollout the policy
    stays the same), and at the end; inside a callback such as `EveryNTimesteps` or `EvalCallback` at the start and when
    that one calls it. It measures exactly or, if `turns` are given, by turns that it plays, with the exact loss of
    every choice. All numbers of the measurement's `summary` are logged by the model's logger as `exact/regret`,
    `exact/value`, ..., or as `sampled/regret`, `sampled/standard_error`, ..., so TensorBoard and Weights & Biases draw
    them.

    Args:
        meter: the `stb_gym.RegretMeter` of the environment that the model learns from.
        every: steps of all environments together.
        save_path: where the policy of least regret so far is kept, as `stb_gym.save_policy` writes it; or None. It is
            an array of all positions, so only exact measurements know it.
        deterministic: whether the most probable actions are measured, or the probabilities by which the model samples.
        verbose: 1 prints a line for each measurement.
        turns: how many turns each measurement plays, see `RegretMeter.sample`; None for an exact one.
        seed: of these turns' dice, which are the same in every measurement.

    Attributes:
        curve: a pair (steps, summary) for each measurement.
        evaluation: the last `Evaluation` or `SampledEvaluation`.
        best: the one of least regret.

    Raises:
        TypeError: if `meter` is none.
        ValueError: if an argument is not allowed, or turns are to be sampled and a policy to be saved.

    Example:
        >>> import gymnasium as gym, stable_baselines3, stb_gym
        >>> env = gym.make("stb_gym/ShutTheBox-v0", tiles=4)
        >>> callback = stb_gym.sb3.RegretCallback(stb_gym.RegretMeter(env), every=200)
        >>> model = stable_baselines3.A2C("MlpPolicy", env, seed=1).learn(400, callback)
        >>> [steps for steps, _ in callback.curve]
        [0, 200, 400]
    """

    evaluation: AnyEvaluation
    best: AnyEvaluation

    def __init__(
        self,
        meter: RegretMeter,
        every: int = 10_000,
        save_path: str | Path | None = None,
        deterministic: bool = True,
        verbose: int = 0,
        turns: int | None = None,
        seed: int = 0,
    ):
        if not isinstance(meter, RegretMeter):
            raise TypeError(f"a RegretCallback needs a meter, such as stb_gym.RegretMeter(env), not {meter!r:.80}")
        check_integer("every", every, 1, 2**53)
        if turns is not None:
            check_integer("turns", turns, 2, MOST_TURNS)
            if save_path is not None:
                raise ValueError("save_path is for exact measurements: sampled turns do not tell the whole policy")
        super().__init__(verbose)
        self.meter, self.every, self.save_path, self.deterministic = meter, every, save_path, deterministic
        self.turns, self.seed = turns, seed
        self.curve: list[tuple[int, dict[str, float]]] = []

    def _on_training_start(self) -> None:
        self._measure()

    def _on_rollout_start(self) -> None:
        if self.num_timesteps // self.every != self.curve[-1][0] // self.every:
            self._measure()

    def _on_step(self) -> bool:
        if self.parent is not None:  # a callback that calls this one when it is time, and tells it nothing else
            self._measure()
        return True

    def _on_training_end(self) -> None:
        self._measure()

    def _measure(self) -> None:
        if self.curve and self.curve[-1][0] == self.num_timesteps:
            return
        policy, self.evaluation = self._measured()
        if not self.curve or self.evaluation.regret < self.best.regret:
            self.best = self.evaluation
            if policy is not None and self.save_path is not None:
                save_policy(self.save_path, self.meter.game, policy, self.meter.illegal, self.meter.objective)
        summary = self.evaluation.summary()
        self.curve.append((self.num_timesteps, summary))
        if self.verbose:
            noise = f" +- {summary['standard_error']:.4f}" if self.turns else ""
            print(f"{self.num_timesteps:>10,} steps: regret {summary['regret']:.4f}{noise}")
        for name, number in summary.items():
            self.logger.record(f"{'sampled' if self.turns else 'exact'}/{name}", number)
        self.logger.record("time/total_timesteps", self.num_timesteps, exclude="tensorboard")
        self.logger.dump(self.num_timesteps)

    def _measured(self) -> tuple[Any, AnyEvaluation]:
        """The policy, None if not all of it is known, and its measure."""
        if self.turns:
            return None, self.meter.sample(self.model, self.turns, self.seed, self.deterministic)
        policy = self.meter.policy(self.model, deterministic=self.deterministic)
        return policy, self.meter.solution.evaluate(policy, self.meter.illegal)
