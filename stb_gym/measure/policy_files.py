"""Policies as files: an .npz of some kilobytes that says which rules and objective its policy is for.

A file may come from anywhere. So nothing in it is executed, and no array is read before its size is known to be what
the game has. Some policies come with the package and are known by name; they are the entries of the leaderboard.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stb_gym.games import ILLEGAL, Game, all_rules, check_choice, check_game, game_of, same_rules
from stb_gym.measure.archive import LARGEST, read_array
from stb_gym.output import from_json, write_aside
from stb_gym.solver import (
    Goal,
    Objective,
    Policy,
    compile_game,
    count_nodes,
    edge_weights_and_forfeits,
    is_named,
    objective_of,
    policy_array,
    task_of,
)

KEPT = Path(__file__).parent / "policies"
OF_A_RUN = "policy.npz"  # the policy in the folder of a run
LARGEST_TEXT = 40_000  # bytes of the name of a game, of its rules or of an objective


class SavedPolicy(NamedTuple):
    """What a policy file holds.

    Attributes:
        game: the rules.
        objective: what the policy is to be judged by.
        illegal: what its illegal actions do: "raise" if it has none, "end" if they end the turn.
        policy: [N] actions or [N, A] probabilities.
    """

    game: Game
    objective: Objective
    illegal: str
    policy: Policy


def save_policy(
    path: str | Path, what: Any, policy: Policy, illegal: str | None = None, objective: Goal | None = None
) -> None:
    """Write a policy, the rules it is for and what it is to be judged by as an .npz file.

    Args:
        path: the file, which appears whole or not at all.
        what: a game, or an environment of one, see `solve`.
        policy: [N] actions or [N, A] probabilities; or a `Preference` or `AnyMove`, stored as such.
        illegal: "raise" refuses a policy that takes an illegal action, "end" lets it end the turn; by default what the
            environment does, and of a game "raise".
        objective: what the policy plays for, of those that have a name; by default what the environment rewards, and
            of a game "score".

    Raises:
        TypeError: if `what` is neither a game nor an environment of one.
        ValueError: if the policy does not fit the game, or takes an illegal action and `illegal` is not "end", if the
            objective has no name by which it could be read again, or the file would be larger than any may be.

    Example:
        See `load_policy`.
    """
    game, goal, illegal = task_of(what, objective, illegal)
    policy = policy_array(compile_game(game), policy)
    edge_weights_and_forfeits(compile_game(game), policy, illegal)
    if policy.nbytes > LARGEST:
        raise ValueError(f"a policy of {policy.nbytes:,} bytes is too large for a file: at most {LARGEST:,} fit")
    if not is_named(game, goal):
        raise ValueError(
            f"a policy file names its objective, and {goal.name!r} is not the name of this: allowed are score, shut "
            "and chances such as at-most:5"
        )
    rules = json.dumps(all_rules(game), default=int)
    with write_aside(path) as aside, aside.open("wb") as file:
        np.savez_compressed(file, policy=policy, game=game.name, rules=rules, objective=goal.name, illegal=illegal)


def load_policy(path: str | Path, game: Game, illegal: str = "raise") -> Policy:
    """Read a policy of this game from an .npz file that `save_policy` wrote; nothing in the file is executed.

    Args:
        path: the file, the folder of a run, or the name of a policy that comes with the package; see `kept_policies`.
        game: the rules that the policy must be of.
        illegal: "raise" refuses a policy that takes an illegal action, "end" lets it end the turn.

    Example:
        >>> import stb_gym, tempfile
        >>> game = stb_gym.Threes()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     stb_gym.save_policy(f"{folder}/mine.npz", game, stb_gym.strategy(game, "take-all"))
        ...     stb_gym.load_policy(f"{folder}/mine.npz", game).shape
        (2442,)
        >>> round(stb_gym.evaluate(game, stb_gym.load_policy("ppo-threes", game)).regret, 3)
        0.0

    Raises:
        ValueError: if the file is none, is damaged, or holds a policy of another game, or one that takes an illegal
            action and `illegal` is not "end".
    """
    check_game(game)
    file = policy_path(path)
    if not _is_of(file, game):
        name, rules = _rules(file)
        raise ValueError(f"{path} is a policy of {name} with {rules}, not of {game}")
    try:
        return _fitting(file, game, illegal)
    except ValueError as error:
        as_saved = '; it was saved with illegal="end", and so it can be evaluated and judged, but does not play'
        refused = illegal == "raise" and _text(file, "illegal", "raise") == "end"
        raise ValueError(f"{error}{as_saved if refused else ''}") from None


def read_policy(path: str | Path) -> SavedPolicy:
    """Read a policy file of any game that is known: the file says which; nothing in it is executed.

    Args:
        path: the file, the folder of a run, or the name of a policy that comes with the package; see `kept_policies`.

    Returns:
        The game, the objective, what illegal actions do, and the policy. An older file that does not say them is for
        the points, without illegal actions.

    Raises:
        ValueError: if the file is none or is damaged, or if its game, rules or objective are not known, or its policy
            does not fit them.

    Example:
        >>> import stb_gym
        >>> saved = stb_gym.read_policy("dqn-nine-tiles-shut")
        >>> saved.game, saved.objective.name, saved.illegal, saved.policy.shape
        (ShutTheBox(), 'shut', 'raise', (5622,))
    """
    file = policy_path(path)
    (name, rules), goal, illegal = _rules(file), _text(file, "objective", "score"), _text(file, "illegal", "raise")
    with _named_in_errors(file):
        game = game_of(name, rules)
        objective = objective_of(game, goal)
        check_choice("treatment of illegal actions", illegal, ILLEGAL)
    return SavedPolicy(game, objective, illegal, _fitting(file, game, illegal))


def kept_policies(game: Game | None = None, folder: Path = KEPT) -> list[str]:
    """The names of the policies that come with the package, which `load_policy` and the commands know.

    Args:
        game: the rules that they are of; by default of any.
        folder: where they lie.

    Example:
        >>> import stb_gym
        >>> "ppo-nine-tiles" in stb_gym.kept_policies()
        True
    """
    known = None if game is None else game_of(game)
    return sorted(path.stem for path in Path(folder).glob("*.npz") if known is None or _is_of(path, known))


def is_policy(name: str) -> bool:
    """Whether a name is that of a policy file, of a kept policy or of the folder of a run, and so of no strategy."""
    return os.sep in name or name.endswith(".npz") or name in kept_policies() or (Path(name) / OF_A_RUN).exists()


def policy_path(path: str | Path) -> Path:
    """The file that is meant: a path, that of the folder of a run, or a bare name of a kept policy that is no file.

    Raises:
        ValueError: if a bare name is neither.
    """
    file, name = Path(path), str(path)
    if (file / OF_A_RUN).exists():
        return file / OF_A_RUN
    if {os.sep, os.altsep, "."} & set(name) or file.exists():
        return file
    if name not in kept_policies():
        raise ValueError(
            f"there is no policy file {name}, nor is it one of the kept policies: {', '.join(kept_policies())}"
        )
    return KEPT / f"{name}.npz"


def _is_of(file: Path, game: Game) -> bool:
    name, rules = _rules(file)
    return name == game.name and same_rules(game, rules)


def _rules(file: Path) -> tuple[str, dict[str, Any]]:
    """The name of the game and the fields of its rules."""
    name, text = _text(file, "game"), _text(file, "rules")
    with _damage_told(file):
        rules = from_json(text)
        if not isinstance(rules, dict):
            raise TypeError
    return name, rules


def _text(file: Path, name: str, default: str | None = None) -> str:
    with _damage_told(file):
        array = read_array(file, name, LARGEST_TEXT)
        if array is None and default is not None:
            return default
        if array is None or array.shape != () or array.dtype.kind != "U":
            raise TypeError
        return str(array)


def _fitting(file: Path, game: Game, illegal: str) -> Policy:
    """The policy of a file; the game is compiled only if the shape is right."""
    with _named_in_errors(file):
        nodes, actions = count_nodes(game), len(game.moves)
    with _damage_told(file):
        policy = read_array(file, "policy", min(LARGEST, nodes * actions * 8))
        if policy is None:
            raise KeyError
    with _named_in_errors(file), np.errstate(over="ignore"):  # of numbers that are no probabilities, as it then says
        if policy.shape not in ((nodes,), (nodes, actions)):
            raise ValueError(f"a policy of {game} is an array of {nodes} integers, or of {nodes} x {actions} floats")
        edge_weights_and_forfeits(compile_game(game), policy, illegal)
    return policy


@contextmanager
def _damage_told(file: Path) -> Iterator[None]:
    """Say in a line that a file cannot be read."""
    try:
        yield
    except FileNotFoundError:
        raise ValueError(f"there is no policy file {file}") from None
    except Exception:  # a damaged archive fails in a dozen ways
        raise ValueError(f"{file} is not a policy file of stb_gym, or is damaged") from None


@contextmanager
def _named_in_errors(file: Path) -> Iterator[None]:
    """Name the file in whatever is said of what it holds."""
    try:
        yield
    except Exception as error:  # rules of games of one's own may fail in any way
        raise ValueError(f"{file}: {error}") from None
