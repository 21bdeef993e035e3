"""A run's folder: what was trained, how it went and what came of it.

Every measurement writes all of it anew, each file whole, result.json last.

config.json           the configuration
curve.csv             a `Point` for every measurement
weights.safetensors   the networks at the last measurement
policy.npz            their greedy policy, for the library alone (`stb_gym.load_policy`)
result.json           how good it is, exactly
"""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from agents.checkpoints import load_weights, save_weights
from agents.config import Config, Learner
from agents.policy_array import policies
from stb_gym import Evaluation, Game, Policy, evaluate, load_policy, save_policy
from stb_gym.files import write_text

T = TypeVar("T")


@dataclass(frozen=True)
class Point:
    """A measurement during training; regret, value and chances are exact.

    Attributes:
        steps: steps of all games together so far.
        seconds: of training so far.
        regret: regret of the greedy policy, in the objective's unit.
        exploring_regret: regret of the policy it explores with.
        agreement, agreement_by_visits, value, shut_probability: of the greedy policy, see `stb_gym.Evaluation`.
    """

    steps: int
    seconds: float
    regret: float
    exploring_regret: float
    agreement: float
    agreement_by_visits: float
    value: float
    shut_probability: float


def measure(game: Game, learner: Learner, objective: str) -> tuple[Policy, Evaluation, Evaluation]:
    """The greedy policy of a learner, its exact evaluation, and that of the policy it explores with."""
    greedy, exploring = policies(game, learner)
    return greedy, evaluate(game, greedy, objective), evaluate(game, exploring, objective)


class RunWriter:
    """Writes a run's folder anew at every measurement.

    Raises:
        ValueError: if the folder holds a run already and `overwrite` is false.
    """

    def __init__(self, folder: Path, config: Config, overwrite: bool):
        if (folder / "config.json").exists() and not overwrite:
            raise ValueError(f"{folder} holds a run already: name another folder by --out, or say --overwrite")
        for name in ("result.json", "curve.csv", "policy.npz", "weights.safetensors"):
            (folder / name).unlink(missing_ok=True)
        self._folder = folder
        self._config = config
        self._game = config.games().game
        self._points: list[Point] = []
        write_text(folder / "config.json", json.dumps(config.to_json(), indent=2) + "\n")

    def measure(self, learner: Learner, steps: int, seconds: float) -> Point:
        """Measure the learner and write everything."""
        policy, greedy, exploring = measure(self._game, learner, self._config.objective)
        point = Point(
            steps=steps,
            seconds=round(seconds, 3),
            regret=greedy.regret,
            exploring_regret=exploring.regret,
            agreement=greedy.agreement,
            agreement_by_visits=greedy.agreement_by_visits,
            value=greedy.value,
            shut_probability=greedy.shut_probability,
        )
        self._points.append(point)
        result = {
            "finished": steps >= self._config.steps,
            "steps": steps,
            "seconds": point.seconds,
            "greedy": greedy.summary(),
            "exploring": exploring.summary(),
        }
        save_weights(self._folder / "weights.safetensors", learner)
        save_policy(self._folder / "policy.npz", self._game, policy)
        write_text(self._folder / "curve.csv", _csv(self._points))
        write_text(self._folder / "result.json", json.dumps(result, indent=2) + "\n")
        return point


def _csv(points: list[Point]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(Point)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(vars(point) for point in points)
    return text.getvalue()


@dataclass(frozen=True)
class Run:
    """A run's folder, read and checked; every part is read when it is asked for.

    Every method raises a ValueError that names the file which is missing, damaged or of another run.
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
        return self.config.games().game

    def learner(self) -> Learner:
        """The learner with the weights of the last measurement."""
        learner = self.config.learner()
        load_weights(self.folder / "weights.safetensors", learner)
        return learner

    def policy(self) -> Policy:
        """The greedy policy of the last measurement."""
        return load_policy(self.folder / "policy.npz", self.game())

    def curve(self) -> list[Point]:
        """The measurements."""
        return _read(self.folder / "curve.csv", _parse_curve)

    def result(self) -> dict[str, Any]:
        """How good it was at the last measurement."""
        return _read(self.folder / "result.json", _parse_result)


def _parse_curve(text: str) -> list[Point]:
    kinds = {field.name: field.type for field in fields(Point)}
    rows = list(csv.DictReader(io.StringIO(text)))
    if not rows or list(rows[0]) != list(kinds) or not text.endswith("\n"):
        raise ValueError("it is not whole")
    return [Point(**{name: kind(row[name]) for name, kind in kinds.items()}) for row in rows]  # type: ignore[operator]


def _parse_result(text: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(text)
    kinds = {"finished": bool, "steps": int, "seconds": float, "greedy": dict, "exploring": dict}
    return {name: kind(result[name]) for name, kind in kinds.items()}


def _read(path: Path, parse: Callable[[str], T]) -> T:
    try:
        return parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{path.parent} is no run, or not a whole one: there is no {path.name}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged or no file of a run: {error}") from None
