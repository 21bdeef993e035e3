"""Support for stable-baselines3: train its models on the vector environment, and log their exact regret.

Importing this module imports stable-baselines3 and torch; `import stb_gym` does not.
"""

import time
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.checks import check_integer
from stb_gym.envs import TurnVectorEnv
from stb_gym.measure import RegretMeter, Visits, diagnose, save_policy
from stb_gym.measure.tensors import map_entries
from stb_gym.messages import quoted
from stb_gym.rounds import RoundVectorEnv
from stb_gym.solver import Measured

try:
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvStepReturn
except ImportError as error:
    raise ImportError("stb_gym.sb3 needs stable-baselines3: pip install stable-baselines3") from error

EXAMPLE = 'TurnVecEnv("stb_gym/ShutTheBox-v0", 8)'


class TurnVecEnv(VecEnv):
    """A `TurnVectorEnv` as a vector environment of stable-baselines3.

    With masks, a step takes a quarter of the time of a `DummyVecEnv` of 64 or more environments. Observations are those
    of `envs`. Infos are empty until a turn ends. Then they have the entries of `envs`, such as `final_score`, and
    `terminal_observation`, `TimeLimit.truncated` and, as stable-baselines3's Monitor would add, `episode` with return,
    length and seconds. sb3-contrib finds the masks by `env_method("action_masks")`.

    Args:
        envs: an id, or a `TurnVectorEnv` in SAME_STEP mode, however wrapped.
        num_envs: with an id, the number of environments.
        **arguments: with an id, arguments of `gym.make_vec`.

    Raises:
        ValueError: if `envs` is neither an id nor a `TurnVectorEnv` in SAME_STEP mode, or if the other arguments are
            given without an id.

    Example:
        >>> import stb_gym.sb3
        >>> stb_gym.sb3.TurnVecEnv("stb_gym/ShutTheBox-v0", 8).reset().shape
        (8, 20)
    """

    def __init__(self, envs: gym.vector.VectorEnv[Any, Any, Any] | str, num_envs: int | None = None, **arguments: Any):
        made: Any = envs
        if isinstance(envs, str) and envs.rpartition(":")[2].startswith("stb_gym/"):
            arguments = {"autoreset_mode": AutoresetMode.SAME_STEP, **arguments}
            made = gym.make_vec(envs, 1 if num_envs is None else num_envs, **arguments)
        elif num_envs is not None or arguments:
            raise ValueError(f"num_envs and other arguments need an id, such as {EXAMPLE}, not {quoted(envs)}")
        inner = getattr(made, "unwrapped", made)
        if not isinstance(inner, TurnVectorEnv | RoundVectorEnv):
            raise ValueError(f"TurnVecEnv needs a vector environment of one turn, not {quoted(envs)}: write {EXAMPLE}")
        if inner.autoreset_mode != AutoresetMode.SAME_STEP:
            raise ValueError(
                f"stable-baselines3 needs autoreset mode SameStep, not {inner.autoreset_mode.value}: write "
                'gym.make_vec(..., autoreset_mode="SameStep")'
            )
        self.envs: gym.vector.VectorEnv[Any, Any, Any] = made
        self._return = np.zeros(self.envs.num_envs)
        self._length = np.zeros(self.envs.num_envs, np.int64)
        self._began = time.time()
        super().__init__(self.envs.num_envs, self.envs.single_observation_space, self.envs.single_action_space)

    def reset(self) -> Any:
        """Begin a turn in every environment, with the seed and options that were set since the last reset.

        Returns:
            The observations, [B, O] or a dictionary of arrays.

        Raises:
            ValueError: if `set_options` was given different options for some environments.
        """
        if any(options != self._options[0] for options in self._options):
            raise ValueError("all environments must share reset options: pass set_options one dictionary")
        observation, _ = self.envs.reset(seed=self._seeds[0], options=self._options[0] or None)
        self._reset_seeds()
        self._reset_options()
        self._return[:] = 0
        self._length[:] = 0
        return observation

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Store the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Step all environments; where a turn ends, the observation is already that of the next turn."""
        observation, reward, terminated, truncated, info = self.envs.step(self._actions)
        over = terminated | truncated
        self._return += reward
        self._length += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        seconds = round(time.time() - self._began, 6)
        for game in over.nonzero()[0].tolist():
            final = info["final_info"]
            infos[game] = {
                **{name: final[name][game] for name in final if name[0] != "_" and final[f"_{name}"][game]},
                "terminal_observation": map_entries(itemgetter(game), info["final_obs"]),
                "TimeLimit.truncated": not terminated[game],
                "episode": {"r": round(float(self._return[game]), 6), "l": int(self._length[game]), "t": seconds},
            }
        self._return[over] = 0
        self._length[over] = 0
        return observation, reward.astype(np.float32), over, infos

    def close(self) -> None:
        """Close the vector environment."""
        self.envs.close()

    def get_images(self) -> Any:
        """Return one picture of each turn."""
        return self.envs.render()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of this object, of a wrapper or of the vector environment, once per chosen index."""
        owner = self if attr_name in ("observation_space", "action_space") else self._layer_with(attr_name)
        return [getattr(owner, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Raise NotImplementedError: the environments share all attributes."""
        raise NotImplementedError("the environments of a TurnVecEnv have no attributes of their own")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Return the rows of the result of a method of the vector environment, one per chosen environment."""
        result = getattr(self._layer_with(method_name), method_name)(*method_args, **method_kwargs)
        return [result[game] for game in self._get_indices(indices)]

    def _layer_with(self, name: str) -> Any:
        """Return the outermost wrapper that has an attribute, or else the vector environment."""
        layer: Any = self.envs
        while not hasattr(layer, name) and layer is not self.envs.unwrapped:
            layer = layer.env
        return layer

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return True for `Monitor`, since the infos hold its statistics; no other wrapper of single environments."""
        return [wrapper_class is Monitor] * len(list(self._get_indices(indices)))


class RegretCallback(BaseCallback):
    """A callback that measures the regret of a model while it learns.

    It measures at the start, before the first rollout after each multiple of `every` steps (the policy does not change
    during a rollout), and at the end. Inside a callback such as `EveryNTimesteps` or `EvalCallback`, it measures at the
    start and whenever the outer callback calls it. It measures exactly, or by sampled turns if `turns` is given. The
    model's logger, and so TensorBoard or Weights & Biases, receives all numbers of the measurement's `summary` as
    `exact/regret`, `exact/value`, ..., or as `sampled/regret`, `sampled/standard_error`, ...

    Args:
        meter: the `stb_gym.RegretMeter` of the environment that the model learns from.
        every: steps of all environments together.
        save_path: the file to which `stb_gym.save_policy` writes the policy of least regret so far; or None. It needs
            exact measurements.
        deterministic: whether to measure the most probable actions, or the probabilities with which the model samples.
        verbose: 1 prints a line for each measurement.
        turns: how many turns each measurement plays, with the same dice, see `RegretMeter.sample`; None to measure
            exactly.
        masked: whether the model chooses among legal actions only; by default if its `predict` takes `action_masks`.
        visits: a function that returns what the model has visited, such as `lambda: envs.visits` of a
            `stb_gym.VectorRecordVisits`. Then each measurement is a diagnosis, and `summary` and the logger also have
            the parts of the regret and the errors of the critic.

    Attributes:
        curve: a pair (steps, summary) for each measurement: regrets and values in the objective's unit.
        evaluation: the last `Evaluation` or `SampledEvaluation`.
        best: the one of least regret.

    Raises:
        TypeError: if `meter` is not a RegretMeter.
        ValueError: if another argument is not allowed, or both `turns` and `save_path` are given; when learning begins,
            if the meter would play the model's own environment.

    Example:
        >>> import gymnasium as gym, stable_baselines3, stb_gym
        >>> env = gym.make("stb_gym/ShutTheBox-v0", tiles=4)
        >>> callback = stb_gym.sb3.RegretCallback(stb_gym.RegretMeter(env), every=200)
        >>> model = stable_baselines3.A2C("MlpPolicy", env, seed=1, device="cpu").learn(400, callback)
        >>> [steps for steps, _ in callback.curve]
        [0, 200, 400]
    """

    evaluation: Measured
    best: Measured

    @checked
    def __init__(
        self,
        meter: RegretMeter,
        every: int = 10_000,
        save_path: str | Path | None = None,
        deterministic: bool = True,
        verbose: int = 0,
        turns: int | None = None,
        masked: bool | None = None,
        visits: Callable[[], Visits] | None = None,
    ):
        check_integer("every", every, 1, 2**53)
        if turns is not None and visits is not None:
            raise ValueError("a diagnosis needs exact measurements: leave out turns")
        if turns is not None and save_path is not None:
            raise ValueError("save_path needs exact measurements: leave out turns")
        super().__init__(verbose)
        self.meter = meter
        self.every = every
        self.save_path = save_path
        self.deterministic = deterministic
        self.turns = turns
        self.masked = masked
        self.visits = visits
        self.curve: list[tuple[int, dict[str, float]]] = []

    def _on_training_start(self) -> None:
        self._measure()

    def _on_rollout_start(self) -> None:
        if self.num_timesteps // self.every != self.curve[-1][0] // self.every:
            self._measure()

    def _on_step(self) -> bool:
        if self.parent is not None:  # a callback that calls this one only when it should measure
            self._measure()
        return True

    def _on_training_end(self) -> None:
        self._measure()

    def _measure(self) -> None:
        if self.curve and self.curve[-1][0] == self.num_timesteps:
            return
        parts: dict[str, float] = {}
        if self.visits is not None:
            diagnosis = diagnose(
                self.meter, self.model, self.visits(), deterministic=self.deterministic, masked=self.masked
            )
            self.evaluation, parts = diagnosis.evaluation, diagnosis.summary()
        elif self.turns is None:
            self.evaluation = self.meter(self.model, self.deterministic, self.masked)
        else:
            self.evaluation = self.meter.sample(
                self.model, self.turns, deterministic=self.deterministic, masked=self.masked
            )
        if not self.curve or self.evaluation.regret < self.best.regret:
            self.best = self.evaluation
            if self.save_path is not None:
                policy = self.meter.policy(self.model, self.deterministic, self.masked)
                save_policy(self.save_path, self.meter.game, policy, self.meter.illegal, self.meter.objective)
        summary = self.evaluation.summary() | parts
        self.curve.append((self.num_timesteps, summary))
        if self.verbose:
            noise = f" +- {summary['standard_error']:.4f}" if self.turns else ""
            print(f"{self.num_timesteps:>10,} steps: regret {summary['regret']:.4f}{noise}")
        for name, number in summary.items():
            self.logger.record(f"{'sampled' if self.turns else 'exact'}/{name}", number)
        self.logger.record("time/total_timesteps", self.num_timesteps, exclude="tensorboard")
        self.logger.dump(self.num_timesteps)
