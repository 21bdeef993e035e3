"""Any agent with `learn(steps)` and `predict` as a learner, and how its code is named.

A name is MODULE:NAME, of a function or a class. Names also come from files, and a file must not import a module: so a
name is looked up only in modules that the user has named, see `allow`.
"""

import random
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from inspect import Parameter, signature
from pathlib import Path
from sysconfig import get_path
from tempfile import TemporaryDirectory
from traceback import walk_tb
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback

from agents.common import Array, BoolArray, Callback, Learner, State
from stb_gym.arrays import IntArray
from stb_gym.cli import imported
from stb_gym.envs.wrappers import VectorAttributes
from stb_gym.measure.agents import arguments_of
from stb_gym.messages import reason

ROOT = Path(__file__).parents[1]
KNOWN = [ROOT / "agents", ROOT / "stb_gym", ROOT / "training", Path(get_path("stdlib"))]
OF_CODE = re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.]*")
ALLOWED: set[str] = set()  # modules that the user has named


def allow(name: str) -> None:
    """Import a module, named by MODULE or MODULE:NAME; agents and settings may name what it has from now on.

    Raises:
        ValueError: if the import fails, with its reason.
    """
    module, _, _ = name.partition(":")
    imported(module, "--import")
    ALLOWED.add(module)


def named(name: str) -> Any:
    """Return the object with the name MODULE:NAME.

    Raises:
        ValueError: if its module is not allowed, or has no such object.
    """
    module, _, _ = name.partition(":")
    if module not in ALLOWED:
        raise ValueError(f"{name} is code outside of this repository: add --import {module}")
    return imported(name, "the code")


def names_in(value: Any) -> Iterator[str]:
    """Yield every "MODULE:NAME" in a setting, which may hold others."""
    if isinstance(value, str) and OF_CODE.fullmatch(value):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from names_in(each)


def fault_of(error: BaseException) -> str:
    """Return the reason of an error in one line; if the code of a user raised it, with its type and that line.

    Code of a user is outside of this repository's packages, of installed packages and of Python. Of several lines, the
    one called last is named.
    """
    kind, message = type(error).__name__, reason(error)
    named_kind = message if message == kind else f"{kind}: {message}"
    lines = [
        f"{Path(frame.f_code.co_filename).name}:{line}"
        for frame, line in walk_tb(error.__traceback__)
        if _is_of_user(frame.f_code.co_filename)
    ]
    if lines:
        return f"{named_kind} ({lines[-1]})"
    return message if isinstance(error, ValueError | OSError | ImportError) else named_kind


def _is_of_user(file: str) -> bool:
    """Return whether a file, named as in a traceback, has code of a user."""
    path = Path(file)
    return path.is_file() and "-packages" not in file and not any(path.is_relative_to(folder) for folder in KNOWN)


class CountedVectorEnv(VectorAttributes, gym.vector.VectorWrapper):
    """A vector environment whose steps count in an `AgentEnv`; other attributes are those of the wrapped one.

    Args:
        envs: the vector environment.
        task_env: the `AgentEnv`.
    """

    def __init__(self, envs: gym.vector.VectorEnv[Any, Any, Any], task_env: Any):
        super().__init__(envs)
        self.task_env: Any = task_env

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take actions."""
        self.task_env.num_steps += self.num_envs
        return self.env.step(actions)


class AgentEnv(gym.Wrapper[Any, Any, Any, Any]):
    """An environment for an agent, which counts its steps.

    Args:
        env: the id of the environment.
        arguments: its keyword arguments.

    Attributes:
        num_steps: steps made so far here and in the environments of `vector`.
    """

    vector_class: ClassVar[type[CountedVectorEnv]] = CountedVectorEnv

    def __init__(self, env: str, arguments: Mapping[str, Any]):
        super().__init__(gym.make(env, **arguments))
        self._task = env, arguments
        self.num_steps = 0

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take an action."""
        self.num_steps += 1
        return self.env.step(action)

    def action_masks(self) -> Any:
        """Return [A] True for legal actions; sb3-contrib calls this method."""
        return self.unwrapped.action_masks()  # type: ignore[attr-defined]

    def vector(self, num_envs: int) -> gym.vector.VectorEnv[Any, Any, Any]:
        """Return a vector environment of the same task, which is much faster, in the autoreset mode SAME_STEP.

        Its dice follow the seed of this environment.
        """
        env, arguments = self._task
        envs = self.vector_class(gym.make_vec(env, num_envs, autoreset_mode="SameStep", **arguments), self)
        envs.reset(seed=int(self.np_random.integers(2**31)))
        return envs


class AgentLearner(Learner):
    """An agent with `learn` and `predict` as a learner.

    `learn(steps)` is called once for each of `parts`; steps that it leaves over are added to those of the next call. If
    it has an argument `callback`, it is called once for all steps and should call `callback()` before each rollout. A
    model of stable-baselines3 is interrupted before its rollouts. The environment counts the steps.

    Attributes:
        agent: the agent.
        asked: how many steps `learn` without `callback` was called for in all.
        policy: what is saved of it: the policy of a model of stable-baselines3, or what its method `save(path)` writes
            to a file, which `load(path)` reads.
        resumes: whether the agent has both methods. It continues with the same results if they restore all of it.
        figures: what a model of stable-baselines3 logs of its last update, or the attribute `figures` of the agent.
    """

    resumes = False
    WEIGHTS = ("policy",)
    SAVED: ClassVar[tuple[str, ...]] = ("num_steps", "asked", "policy")

    def __init__(self, envs: Any, settings: Any, seed: int = 0, device: str = "cpu"):
        self.settings = settings  # without the episodes of `Learner`, as the agent steps the environment
        self.num_steps = self.asked = 0
        self.figures = {}
        self.envs = envs
        self.agent = self.make_agent(envs, seed, device)
        self._is_model = isinstance(self.agent, BaseAlgorithm)
        self.policy = self.agent.policy if self._is_model else SavedFile(self.agent)
        self.resumes = not self._is_model and self.policy.is_complete

    @abstractmethod
    def make_agent(self, envs: Any, seed: int, device: str) -> Any:
        """Return an agent that has learned nothing yet."""

    @property
    def reached(self) -> int:
        """See `Learner`."""
        return max(self.num_steps, self.asked)

    def learn(self, total_steps: int, callback: Callback = lambda: None) -> None:
        """See `Learner`; the agent may stop before its last rollout would exceed the budget.

        Raises:
            ValueError: if the agent made no step in the environment.
        """
        start = self.num_steps
        if self._is_model:
            before_rollout = _BeforeRollout(self, callback)
            self.agent.learn(total_steps - start, before_rollout, log_interval=None, reset_num_timesteps=False)
            before_rollout.read_log()
            return
        counted = self.envs.num_steps

        def count() -> None:
            self.num_steps = start + self.envs.num_steps - counted
            self.figures = {name: float(value) for name, value in getattr(self.agent, "figures", {}).items()}

        def count_and_call(*_: Any) -> None:
            count()
            callback()

        if "callback" in signature(self.agent.learn).parameters:
            count_and_call()
            self.agent.learn(total_steps - start, callback=count_and_call)
            count()
        else:
            for part in range(1, self.parts + 1):
                end = total_steps * part // self.parts
                if end > self.reached:
                    count_and_call()
                    self.agent.learn(end - self.num_steps)
                    self.asked = end
                    count()
        if not self.num_steps:
            made = f"made none of {total_steps:,} steps in the environment that it was given"
            raise ValueError(f"the agent {made}: is its rollout longer?")

    def act(self, observations: Array, masks: BoolArray) -> IntArray:
        """See `Learner`; an agent whose `predict` has no argument `action_masks` may choose illegal actions."""
        takes_masks = "action_masks" in signature(self.agent.predict).parameters
        options = {"action_masks": masks} if takes_masks else {}
        actions, _ = self.agent.predict(observations, deterministic=True, **options)
        return actions


class CustomLearner(AgentLearner):
    """An agent that a function or a class of other code makes; `registry.learner_named` makes a subclass for each.

    The function is called with the environment, `seed` and `device` if it has arguments of these names, and the
    settings. The random generators of Python, NumPy and torch and the environment are seeded before.

    Attributes:
        maker: the function or class.
    """

    settings_class = dict  # keyword arguments of `maker`
    uses_masks = False
    reports_updates = False
    maker: ClassVar[Callable[..., Any]]

    @classmethod
    def make_envs(cls, env: str, arguments: Mapping[str, Any], settings: Any) -> Any:
        """Return an `AgentEnv`."""
        return AgentEnv(env, arguments)

    @classmethod
    def rollout_steps(cls, settings: Any) -> int:
        """Return 1, as the rollouts of the agent are not known."""
        return 1

    @classmethod
    def setting_names(cls, given: Iterable[str] = ()) -> list[str]:
        """Return the names of the arguments of `maker`; if it takes any keyword, also those `given`."""
        parameters = signature(cls.maker).parameters.values()
        if not parameters:
            raise ValueError(f"{cls.__name__} has no argument for the environment")
        names = [*arguments_of(cls.maker)][1:]
        takes_any = any(each.kind == Parameter.VAR_KEYWORD for each in parameters)
        return [name for name in [*names, *(given if takes_any else ())] if name not in ("seed", "device")]

    def make_agent(self, envs: Any, seed: int, device: str) -> Any:
        """See `made`."""
        return made(type(self).__name__, type(self).maker, envs, seed, device, self.settings)

    @property
    def player(self) -> Any:
        """See `Learner`."""
        return self.agent


def made(
    name: str,
    maker: Callable[..., Any],
    env: Any,
    seed: int,
    device: str = "cpu",
    settings: Mapping[str, Any] = {},
) -> Any:
    """Seed everything, and then make an agent by a function or class.

    Args:
        name: the name of the function in errors.
        maker: the function, which is called with the environment, and `seed` and `device` if it has these arguments.
        env: the environment.
        seed: seeds the environment and the random generators of Python, NumPy and torch.
        device: where networks are.
        settings: further arguments of the function.

    Raises:
        ValueError: if the function fails, or the agent has no `learn` or no `predict`.
    """
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    torch.manual_seed(seed)
    env.reset(seed=seed)
    given = {"seed": seed, "device": device}
    try:
        agent = maker(env, **{key: given[key] for key in given.keys() & arguments_of(maker).keys()}, **settings)
    except Exception as error:  # the code may do anything
        raise ValueError(f"{name} fails: {fault_of(error)}") from error
    for method in ("learn", "predict"):
        if not callable(getattr(agent, method, None)):
            kind = type(agent).__name__
            raise ValueError(f"an agent needs the methods learn and predict: the {kind} of {name} has no {method}")
    return agent


class _BeforeRollout(BaseCallback):
    """A callback that reads the log of a model and calls a function before every rollout."""

    def __init__(self, learner: AgentLearner, function: Callback):
        super().__init__()
        self._learner, self._function = learner, function

    def read_log(self) -> None:
        """Update the number of steps and the figures of the learner."""
        self._learner.num_steps = self.model.num_timesteps
        logged = self.model.logger.name_to_value
        self._learner.figures = {name[6:]: float(logged[name]) for name in logged if name.startswith("train/")}

    def _on_rollout_start(self) -> None:
        self.read_log()
        self._function()

    def _on_step(self) -> bool:
        return True


class SavedFile:
    """What an agent saves, as a state of tensors.

    Attributes:
        is_complete: whether the agent has `save` and `load`; otherwise the state is empty.
    """

    def __init__(self, agent: Any):
        self._agent = agent
        self.is_complete = all(callable(getattr(agent, name, None)) for name in ("save", "load"))

    def state_dict(self) -> State:
        """Return the content of the file that `save` writes."""
        if not self.is_complete:
            return {}
        with TemporaryDirectory() as folder:
            self._agent.save(str(Path(folder, "agent")))
            files = [*Path(folder).rglob("*")]  # save may add an ending
            if len(files) != 1 or not files[0].is_file():
                raise ValueError(f"save(path) of an agent must write one file, not {len(files)}")
            return {"file": torch.as_tensor(np.fromfile(files[0], np.uint8))}

    def load_state_dict(self, state: State) -> None:
        """Let the agent load what it saved."""
        if not state or not self.is_complete:
            raise ValueError("the agent has no save and load, so what it learned is not stored")
        with TemporaryDirectory() as folder:
            path = Path(folder, "agent")
            state["file"].numpy().tofile(path)
            self._agent.load(str(path))
