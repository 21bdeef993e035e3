"""The folder of a run: what was trained, how it went and how good the result is.

config.json    the configuration, see `agents.presets.Config`
curve.csv      one row per measurement
weights.pt     what the learner learned; agents of stable-baselines3 write model.zip instead
policy.npz     the greedy policy of the last measurement, which `stb_gym.load_policy` reads without a network
policies.npz   the greedy policies of all measurements; both only where the game fits into tables
result.json    how good the last measurement is, and whether the run is finished
checkpoint.pt  everything that is needed to continue; removed at the end

Files are written whole or not at all, and nothing in a file is executed.
"""

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import torch
from filelock import FileLock, Timeout

from agents.common import Learner
from agents.presets import Config
from stb_gym import Game, RegretMeter, load_policy, save_policy
from stb_gym.envs import stepper_of
from stb_gym.games import check_integer
from stb_gym.measure import SampledEvaluation, load_policies, save_policies
from stb_gym.output import check_file, from_json, read_text, write_aside, write_text
from stb_gym.solver import Evaluation, Policy
from training.logs import open_logs

FILES = (
    "config.json", "curve.csv", "weights.pt", "model.zip", "policy.npz", "policies.npz", "result.json", "checkpoint.pt",
)  # fmt: skip
ILLEGAL = "end"  # an illegal action, possible without masks, ends the turn as it does in the environment
TURNS = 10_000  # played in a sampled measurement
AT_ONCE = 2**13  # positions in one batch of values
CHECKPOINT_SECONDS = 30.0  # the least processor time between two checkpoints
IN_CURVE = (
    "value", "agreement", "agreement_by_visits", "shut_probability", "illegal_mass", "turns", "standard_error",
)  # fmt: skip


class Measurement(NamedTuple):
    """How good a learner is.

    Attributes:
        greedy: the evaluation of its greedy policy.
        exploring: the evaluation of the policy that it explores with.
        value_error: root of the mean squared error of its values, in the objective's unit, at the positions that the
            greedy policy visits.
        policy: [N] the greedy policy, or None if the measurement is sampled.
    """

    greedy: Evaluation | SampledEvaluation
    exploring: Evaluation | SampledEvaluation
    value_error: float
    policy: Policy | None


def measure(config: Config, learner: Learner, turns: int | None = None) -> Measurement:
    """Measure a learner: exactly where the game fits into tables, otherwise by turns that it plays.

    Args:
        config: the configuration of the learner.
        learner: the learner.
        turns: play this many turns, whatever the size of the game.

    Returns:
        The measurement. Losses of choices are exact in sampled measurements, too.
    """
    meter = _meter(config.game(), config.objective)
    policy: Policy | None = None
    greedy: Evaluation | SampledEvaluation
    exploring: Evaluation | SampledEvaluation
    if turns is None and meter.is_exact:
        exploring_policy = meter.policy(learner.probabilities)
        policy = exploring_policy.argmax(axis=1)
        greedy = meter.solution.evaluate(policy, ILLEGAL)
        exploring = meter.solution.evaluate(exploring_policy, ILLEGAL)
        nodes = greedy.tables.decisions
        optimal_values, weights = greedy.optimum.node_utility[nodes], greedy.visits[nodes]
    else:
        greedy, exploring = (
            meter.sample(agent, turns or TURNS, config.seed)
            for agent in (lambda seen, masks: learner.probabilities(seen, masks).argmax(axis=1), learner.probabilities)
        )
        nodes, optimal_values, weights = greedy.node, greedy.utility, None
    stepper = stepper_of(config.game())
    parts = (nodes[first : first + AT_ONCE] for first in range(0, len(nodes), AT_ONCE))
    values = [learner.values(stepper.observe(part), stepper.masks(part).view(np.bool_)) for part in parts]
    squared_errors = (np.concatenate(values) - optimal_values) ** 2
    return Measurement(greedy, exploring, math.sqrt(np.average(squared_errors, weights=weights)), policy)


@lru_cache(maxsize=8)
def _meter(game: Game, objective: str) -> RegretMeter:
    return RegretMeter(game, objective, ILLEGAL)


class Run:
    """The folder of a run; its files are read when a method is called.

    Every method raises a ValueError that names the file if it is missing or damaged.

    Args:
        folder: the folder.

    Attributes:
        folder: the folder.
        config: the configuration.

    Example:
        >>> from training.run import Run
        >>> Run("runs/ppo-nine-tiles-quick-0").curve()["regret"]  # doctest: +SKIP
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        with _reading(self.folder / "config.json") as path:
            self.config = Config.from_json(from_json(read_text(path)))

    def game(self) -> Game:
        """Return the rules."""
        return self.config.game()

    def curve(self) -> pd.DataFrame:
        """Return the measurements, one row for each, with `steps` and `seconds` and the columns of the run."""
        with _reading(self.folder / "curve.csv") as path:
            curve = pd.read_csv(path, float_precision="round_trip")
            measured = "regret" if self.config.opponents is None else "gain"
            if curve.empty or not np.isfinite(curve[["steps", "seconds", measured]].to_numpy(np.float64)).all():
                raise ValueError("it has no measurements")
            return curve

    def result(self) -> dict[str, Any]:
        """Return how good the last measurement is, and whether the run is `finished`."""
        with _reading(self.folder / "result.json") as path:
            result = from_json(read_text(path))
            if not isinstance(result["finished"], bool) or not isinstance(result["steps"], int):
                raise ValueError("finished must be true or false, and steps an integer")
            return dict(result)

    def policy(self) -> Policy:
        """Return [N] the greedy policy of the last measurement."""
        return load_policy(self.folder / "policy.npz", self.game(), ILLEGAL)

    def policies(self) -> dict[int, Policy]:
        """Return [N] the greedy policy of every measurement, by its steps."""
        return load_policies(self.folder / "policies.npz", self.game(), ILLEGAL)

    def learner(self, device: str = "cpu") -> Learner:
        """Return the learner with what it had learned at the last measurement."""
        learner = self.config.make_learner(self.config.make_envs(), device)
        saved_by_library = hasattr(learner, "load")
        with _reading(self.folder / ("model.zip" if saved_by_library else "weights.pt")) as path:
            if saved_by_library:
                learner.load(path)  # type: ignore[attr-defined]
            else:
                learner.load_state_dict({"weights": _load(path)})
        return learner


@contextmanager
def _reading(path: Path) -> Iterator[Path]:
    """Raise a ValueError of one line that names the file for whatever fails in the block."""
    try:
        yield path
    except FileNotFoundError:
        raise ValueError(f"{path.parent} is not the folder of a run: there is no {path.name}") from None
    except Exception as error:  # a damaged file fails in any way
        reason = f"{error}".partition("\n")[0] or type(error).__name__
        raise ValueError(f"cannot read {path}: {reason}") from None


def _load(path: Path) -> Any:
    """Read what `torch.save` wrote; only tensors and plain values are read."""
    check_file(path)
    return torch.load(path, map_location="cpu", weights_only=True)


def _save(path: Path, state: Any) -> None:
    with write_aside(path) as aside, aside.open("wb") as file:
        torch.save(state, file)


class Training:
    """A run in progress: its learner, and the files of its folder.

    Args:
        config: the configuration.
        folder: the folder.
        device: where the networks are.

    Attributes:
        learner: the learner.
        rows: the rows of the curve so far.
    """

    def __init__(self, config: Config, folder: Path, device: str = "cpu"):
        self.config = config
        self.folder = folder
        envs = config.make_envs()
        self.learner = config.make_learner(envs, device)
        self.rows: list[dict[str, float]] = []
        self._policies: dict[int, Policy] = {}
        self._self_play: Any = None
        if config.opponents is not None:
            from agents.self_play import SelfPlay

            self._self_play = SelfPlay(config.opponents, envs)
        self._saved_seconds = 0.0

    def measure(self, seconds: float) -> dict[str, float]:
        """Measure the learner, and write the files of the run.

        Args:
            seconds: processor time since the run began.

        Returns:
            The new row of the curve.

        Raises:
            ValueError: if the weights are not finite.
        """
        learner, path = self.learner, self.folder
        weights = learner.state_dict()["weights"]
        if not _is_finite(weights):
            raise ValueError(f"learning has diverged: after {learner.num_steps:,} steps the weights are not finite")
        row: dict[str, float] = {"steps": learner.num_steps, "seconds": round(seconds, 3)}
        result: dict[str, Any] = {"finished": learner.num_steps >= self.config.steps, **row}
        if self._self_play is not None:
            gains = self._self_play.measure(learner)
            row |= gains
            result |= gains
        else:
            greedy, exploring, value_error, policy = measure(self.config, learner)
            summary = {"agreement": math.nan, "turns": 0, "standard_error": 0.0, **greedy.summary()}
            row |= {"regret": greedy.regret, "exploring_regret": exploring.regret}
            row |= {name: summary[name] for name in IN_CURVE}
            row["value_error"] = value_error
            result |= {"greedy": greedy.summary(), "exploring": exploring.summary(), "value_error": value_error}
            if result["finished"]:  # it takes a while for sampled turns
                result["greedy"]["normalised_score"] = greedy.normalised_score
            if policy is not None:
                self._policies[learner.num_steps] = policy.astype(np.min_scalar_type(policy.max()))
                save_policy(path / "policy.npz", self.config.game(), policy, ILLEGAL, self.config.objective)
                save_policies(path / "policies.npz", self.config.game(), self._policies)
        row |= {f"train/{name}": value for name, value in learner.figures.items()}
        self.rows.append(row)
        with write_aside(path / "curve.csv") as aside:
            pd.DataFrame(self.rows).to_csv(aside, index=False, lineterminator="\n")
        if hasattr(learner, "save"):
            with write_aside(path / "model.zip") as aside:
                learner.save(aside)
        else:
            _save(path / "weights.pt", weights)
        write_text(path / "result.json", json.dumps(result, indent=2) + "\n")
        if result["finished"]:
            (path / "checkpoint.pt").unlink(missing_ok=True)
        elif seconds >= self._saved_seconds + CHECKPOINT_SECONDS and not hasattr(learner, "save"):
            state = {"learner": learner.state_dict(), "rows": len(self.rows)}
            if self._self_play is not None:
                state["self_play"] = self._self_play.state_dict()
            _save(path / "checkpoint.pt", state)
            self._saved_seconds = seconds
        return row

    def resume(self) -> None:
        """Continue from the checkpoint of the folder.

        Raises:
            ValueError: if it cannot be read. The file is kept.
        """
        run = Run(self.folder)
        with _reading(self.folder / "checkpoint.pt") as path:
            state = _load(path)
            count = state["rows"]
            curve = run.curve()
            if not isinstance(count, int) or not 0 < count <= len(curve):
                raise ValueError(f"it has {count} measurements, but curve.csv has {len(curve)}")
            self.rows = curve.iloc[:count].to_dict("records")
            if self._self_play is not None:
                self._self_play.load_state_dict(state["self_play"])
            self.learner.load_state_dict(state["learner"])
            last = self.rows[-1]["steps"]
            if self.learner.num_steps != last:
                raise ValueError(f"it has {self.learner.num_steps:,} steps, but curve.csv has {last:,}")
        if (self.folder / "policies.npz").exists():
            self._policies = {steps: policy for steps, policy in run.policies().items() if steps <= last}
        self._saved_seconds = self.rows[-1]["seconds"]


def _is_finite(weights: Any) -> bool:
    if isinstance(weights, torch.Tensor):
        return bool(weights.isfinite().all())
    return not isinstance(weights, Mapping) or all(map(_is_finite, weights.values()))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from writing to a folder, which is made if necessary.

    Raises:
        ValueError: if another process writes to it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / ".lock", timeout=0):
            yield
    except Timeout:
        raise ValueError(f"{folder} is in use by another process") from None


def prepare(config: Config, folder: Path, resume: bool = False, overwrite: bool = False) -> bool:
    """Prepare the folder of a run, and return whether the run in it is finished.

    Args:
        config: the configuration.
        folder: the folder, which must be locked.
        resume: continue the run that the folder holds.
        overwrite: remove the run that the folder holds.

    Raises:
        ValueError: if the folder holds a run and neither `resume` nor `overwrite` is given, or if the run cannot be
            continued.
    """
    existing = [folder / name for name in FILES if (folder / name).exists()]
    if existing and overwrite:
        for path in existing:
            path.unlink()
    elif existing and not resume:
        raise ValueError(f"{folder} holds a run already: add --resume or --overwrite, or name another folder by --out")
    elif existing:
        if Run(folder).config != config:
            raise ValueError(f"{folder} holds a run of another configuration: name another folder by --out")
        if (folder / "result.json").exists() and Run(folder).result()["finished"]:
            return True
        if config.algorithm.startswith("sb3-"):
            raise ValueError(f"{folder} is not finished, and {config.algorithm} cannot continue: add --overwrite")
    write_text(folder / "config.json", json.dumps(config.to_json(), indent=2) + "\n")
    return False


def train(
    config: Config,
    folder: str | Path,
    resume: bool = False,
    overwrite: bool = False,
    measurements: int = 40,
    *,
    device: str = "cpu",
    logs: Sequence[str] = (),
    progress: Callable[[int, str], None] = lambda steps, note: None,
) -> None:
    """Train one run, and measure it at the start, `measurements` times on the way, and at the end.

    Args:
        config: the configuration.
        folder: the folder of the run.
        resume: continue the run that the folder holds, if any; a finished run is left as it is. On the CPU the result
            is that of an undisturbed run.
        overwrite: replace the run that the folder holds.
        measurements: the number of measurements, at equal distances.
        device: where the networks are, such as "cuda".
        logs: where measurements are logged besides: "tensorboard", "wandb".
        progress: called with the steps so far and the regret in words; "" between measurements.

    Raises:
        ValueError: if the folder holds a run that is neither resumed nor overwritten, or a damaged one; if another
            process writes to it; or if learning diverges.
    """
    folder = Path(folder)
    check_integer("measurements", measurements, 1, 10**6)
    torch.set_num_threads(1)  # the networks are small, and a run is repeatable
    with ExitStack() as stack:
        stack.enter_context(locked(folder))
        training = Training(config, folder, device)
        if prepare(config, folder, resume, overwrite):
            return
        if (folder / "checkpoint.pt").exists():
            training.resume()
        rows, learner = training.rows, training.learner
        log = stack.enter_context(open_logs(logs, folder, config, rows))
        interval = max(1, config.steps // measurements)
        began = time.process_time() - (rows[-1]["seconds"] if rows else 0)

        def measure_now() -> None:
            row = training.measure(time.process_time() - began)
            log(row)
            name = "regret" if "regret" in row else "gain"
            progress(learner.num_steps, f"{name} {row[name]:.4g}")

        def before_rollout() -> None:
            progress(learner.num_steps, "")
            if not rows or learner.num_steps // interval > rows[-1]["steps"] // interval:
                measure_now()

        learner.learn(config.steps, before_rollout)
        measure_now()
