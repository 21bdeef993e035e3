"""The folder of a run, which says what was trained, how it went and how good the result is; `run_writer` writes it.

config.json                   the configuration
curve.csv                     a `Point` for every measurement
log.csv                       what the learner told of itself at every measurement, if that is logged
weights.safetensors           the networks, or the table, at the last measurement
policy.npz                    their greedy policy, which `stb_gym.load_policy` reads without a network
policies.npz                  the greedy policy of every measurement
result.json                   how good it is, exactly
checkpoint-STEPS.safetensors  everything to go on from, at two of the last measurements; removed when it is finished
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from agents.checkpoints import load_weights
from agents.config import Config
from agents.learner import Learner
from agents.policy_array import policies
from stb_gym import Evaluation, Game, Policy, load_policy, solve
from training.policies import load_policies
from training.rows import from_csv

T = TypeVar("T")


@dataclass(frozen=True)
class Point:
    """A measurement during training; nothing in it is sampled.

    Attributes:
        steps: steps so far, in all environments together.
        seconds: processor seconds of training and measuring so far, so that other work on the machine does not count.
        regret: regret of the greedy policy, in the objective's unit.
        exploring_regret: regret of the policy it explores with.
        agreement, agreement_by_visits, value, shut_probability, illegal_mass: of the greedy policy, see
            `stb_gym.Evaluation`.
        value_error: of the learner's own values, see `agents.policy_array.value_error`.
    """

    steps: int
    seconds: float
    regret: float
    exploring_regret: float
    agreement: float
    agreement_by_visits: float
    value: float
    shut_probability: float
    illegal_mass: float
    value_error: float


class Measurement(NamedTuple):
    """A measurement with what goes with it.

    Attributes:
        point: the measurement.
        figures: what the learner told of its last update, such as its losses.
        policy: [N] its greedy policy.
    """

    point: Point
    figures: Mapping[str, float]
    policy: Policy


def measure(config: Config, learner: Learner) -> tuple[Policy, Evaluation, Evaluation]:
    """The greedy policy of a learner, its exact evaluation, and that of the policy it explores with."""
    game, objective = config.task.game(), config.task.objective
    greedy, exploring = policies(game, learner)
    optimum = solve(game, objective)
    return greedy, optimum.evaluate(greedy, config.illegal), optimum.evaluate(exploring, config.illegal)


@dataclass(frozen=True)
class Run:
    """The folder of a run; its files are read and checked when they are asked for.

    Every method raises a ValueError that names the file if one is missing, damaged or not of this run.

    Attributes:
        folder: the folder.
        config: what was trained.
    """

    folder: Path
    config: Config

    @staticmethod
    def open(folder: Path) -> "Run":
        """The run in a folder."""
        if not folder.is_dir():
            raise ValueError(f"there is no folder {folder}")
        return Run(folder, _read(folder / "config.json", lambda text: Config.from_json(json.loads(text))))

    def game(self) -> Game:
        """The rules it was trained on."""
        return self.config.task.game()

    def learner(self) -> Learner:
        """The learner with what it had learned at the last measurement."""
        learner = self.config.learner()
        load_weights(self.folder / "weights.safetensors", learner)
        return learner

    def policy(self) -> Policy:
        """The greedy policy of the last measurement."""
        return load_policy(self.folder / "policy.npz", self.game(), self.config.illegal)

    def policies(self) -> dict[int, Policy]:
        """The greedy policy of every measurement, by its steps."""
        return load_policies(self.folder / "policies.npz", self.game(), self.config.illegal)

    def curve(self) -> list[Point]:
        """The measurements."""
        return _read(self.folder / "curve.csv", lambda text: from_csv(text, Point))

    def result(self) -> dict[str, Any]:
        """How good it was at the last measurement."""
        return _read(self.folder / "result.json", _parse_result)

    def progress(self) -> str:
        """The steps that were made, such as "5,000", or "4,000 of 5,000" in a run that is not finished."""
        result = self.result()
        return f"{result['steps']:,}" + ("" if result["finished"] else f" of {self.config.steps:,}")


def _parse_result(text: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(text)
    kinds = {"finished": bool, "steps": int, "seconds": float, "greedy": dict, "exploring": dict, "value_error": float}
    return {name: kind(result[name]) for name, kind in kinds.items()}


def _read(path: Path, parse: Callable[[str], T]) -> T:
    try:
        return parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{path.parent} is no run, or not a whole one: there is no {path.name}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged or no file of a run: {error}") from None
