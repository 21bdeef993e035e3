"""Read and write policies as .npz files that name their rules and their objective.

Files are not trusted: nothing in them is executed, and each array must have a size that the game allows before it is
read (`numpy.load` would reserve as much memory as a file claims). A file holds the SHA-256 of its entries and of the
tables of its game, which is checked: the code of a game may change under the same name. In files of earlier versions it
is that of the entries alone, or there is none.

Some policies come with the package and are read by name; commands.toml beside them lists the commands that trained
them. A training stores the policies of all its measurements in one file (`save_policies`).
"""

import hashlib
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.checks import listed
from stb_gym.files import MISMATCH, from_json, path_of, reading, write_aside
from stb_gym.games import Game, all_rules, check_game, game_of, make_game, name_of
from stb_gym.messages import LONGEST_MESSAGE, quoted, shortened
from stb_gym.solver import (
    Evaluation,
    GameOrEnv,
    Goal,
    Objective,
    Playable,
    Policy,
    TurnTables,
    compile_game,
    is_named,
    objective_of,
    pair_weights,
    policy_array,
    task_of,
)
from stb_gym.solving import solve

FORMAT = 2  # version of the files; it changes with the order of states
BUNDLED = Path(__file__).parent / "policies"
OF_A_RUN = "policy.npz"  # the policy in the folder of a run
LARGEST = 2**28  # bytes of a file, and of an array in it
LARGEST_TEXT = 40_000  # bytes of the name of a game, of its rules or of an objective
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the methods of NumPy; others may unpack to any size at once


class SavedPolicy(NamedTuple):
    """A policy file.

    Attributes:
        game: the rules.
        objective: what the policy plays for.
        illegal: what its illegal actions do: "raise" if it has none, "end" if they end the turn.
        policy: [S] actions or [S, A] probabilities.
    """

    game: Game
    objective: Objective
    illegal: str
    policy: Policy

    def evaluate(self) -> Evaluation:
        """Return the exact `Evaluation` of the policy, with its own objective.

        Example:
            >>> import stb_gym
            >>> evaluation = stb_gym.measure.read_policy("ppo-nine-tiles").evaluate()
            >>> round(evaluation.regret, 6)
            0.002173
            >>> evaluation.costliest_mistake
            'open 1,3,4,5,6,7,8,9, roll 11: shut 4,7 instead of shut 3,8 loses 0.155, once in 648 turns'
        """
        return solve(self.game, self.objective).evaluate(self.policy, self.illegal)


def save_policy(
    path: str | Path, env: GameOrEnv, policy: Playable, illegal: str | None = None, objective: Goal | None = None
) -> None:
    """Write a policy with its rules and objective to an .npz file.

    Args:
        path: the file. It is written whole or not at all.
        env: a game, or an environment of one, see `stb_gym.solve`.
        policy: [S] actions or [S, A] probabilities. An `AfterstateScorePolicy` or `UniformRandom` is stored as such an
            array.
        illegal: "raise" refuses a policy that takes an illegal action, "end" lets it end the turn; by default what the
            environment does, and for a game "raise".
        objective: what the policy plays for, one that has a name; by default the objective of the environment, and for
            a game "score".

    Raises:
        TypeError: if `env` is neither a game nor an environment of one.
        ValueError: if the policy does not fit the game or is too large for a file, takes an illegal action and
            `illegal` is not "end", the objective has no name, or the game has that of another, registered game.

    Example:
        >>> import stb_gym, tempfile
        >>> game = stb_gym.Threes()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     stb_gym.save_policy(f"{folder}/mine.npz", game, stb_gym.strategy(game, "take-all"))
        ...     stb_gym.load_policy(f"{folder}/mine.npz", game).shape
        (2442,)
    """
    game, goal, illegal = task_of(env, objective, illegal)
    tables = compile_game(game)
    policy = policy_array(tables, policy)
    pair_weights(tables, policy, illegal)
    if policy.itemsize > 8:  # long doubles, which a file does not hold
        policy = policy.astype(np.float64)
    if policy.nbytes > LARGEST:
        raise ValueError(f"a policy of {policy.nbytes:,} bytes is too large for a file: at most {LARGEST:,} fit")
    if not is_named(game, goal):
        raise ValueError(f"a file cannot name the objective {quoted(goal.name)}: allowed are score, shut, at-most:5")
    _write(path, game, goal, illegal, policy=policy)


def load_policy(path: str | Path, game: Game, illegal: str = "raise") -> Policy:
    """Read the policy of a file that `save_policy` wrote for this game; nothing in the file is executed.

    Args:
        path: the file, the folder of a run, or the name of a policy that comes with the package; see
            `bundled_policies`.
        game: the rules that the policy must be for.
        illegal: "raise" refuses a policy that takes an illegal action, "end" lets it end the turn.

    Returns:
        [S] actions or [S, A] probabilities.

    Raises:
        ValueError: if there is no such file, it is damaged or for another game, or its policy takes an illegal action
            and `illegal` is not "end".

    Example:
        >>> import stb_gym
        >>> game = stb_gym.Threes()
        >>> round(stb_gym.evaluate(game, stb_gym.load_policy("ppo-threes", game)).regret, 3)
        0.0
    """
    check_game(game)
    return read_policy(path, game, illegal).policy


def read_policy(path: str | Path, game: Game | None = None, illegal: str | None = None) -> SavedPolicy:
    """Read a policy file with the game and the objective that it names; nothing in the file is executed.

    Args:
        path: the file, the folder of a run, or the name of a policy that comes with the package; see
            `bundled_policies`.
        game: the rules that it must be for; by default those that it names.
        illegal: what an illegal action does, see `load_policy`; by default what the file names.

    Returns:
        The game, the objective, what illegal actions do, and the policy.

    Raises:
        ValueError: if there is no such file, it is damaged, names an unknown game, rule or objective, or its policy
            does not fit them.

    Example:
        >>> import stb_gym
        >>> saved = stb_gym.measure.read_policy("fitted-q-nine-tiles-shut")
        >>> saved.game, saved.objective.name, saved.illegal, saved.policy.shape
        (ShutTheBox(), 'shut', 'end', (5622,))
    """
    file = path_of(path)
    if (file / OF_A_RUN).exists():
        file /= OF_A_RUN
    elif not file.exists():
        if str(path) not in bundled_policies():
            missing = f"there is no policy file {shortened(str(path))}, nor is it one of the bundled policies: "
            raise ValueError(missing + listed(bundled_policies(), LONGEST_MESSAGE - len(missing)))
        file = BUNDLED / f"{path}.npz"
    with reading(f"the policy {path}"):
        header = _read_header(file)
        if game is None:
            game = game_of(header.game, header.rules)
        else:
            header.check_game(game)
        objective = objective_of(game, header.objective)
        illegal = illegal or header.illegal
        tables = compile_game(game)
        largest = HEADER | {"policy": min(LARGEST, tables.num_states * tables.num_actions * 8)}
        *_, policy = read_arrays(file, largest, tables)
        with np.errstate(over="ignore"):  # sums of numbers that are not probabilities
            pair_weights(tables, policy, illegal)
        return SavedPolicy(game, objective, illegal, policy)


@checked
def bundled_policies(game: Game | None = None) -> list[str]:
    """Return the names of the policies that come with the package.

    Args:
        game: the rules that they must be for; by default any.

    Returns:
        The names in alphabetical order, each of which `load_policy` takes.

    Example:
        >>> import stb_gym
        >>> "ppo-nine-tiles" in stb_gym.bundled_policies()
        True
    """
    with reading(f"the policies in {BUNDLED}"):
        return sorted(path.stem for path in BUNDLED.glob("*.npz") if game is None or _read_header(path).is_for(game))


def is_policy(name: str) -> bool:
    """Return True if a name is a bundled policy, ends in ".npz" or is a path. Else it is the name of a strategy."""
    return "/" in name or os.sep in name or name.endswith(".npz") or name in bundled_policies()


class _Header(NamedTuple):
    """The entries of a policy file except the policies. What they name may be unknown."""

    game: str
    rules: Any  # in a file as JSON
    objective: str
    illegal: str

    def is_for(self, game: Game) -> bool:
        """Return whether the file is for a game. Rules that it does not list have their defaults."""
        try:
            return self.game == name_of(game) and make_game(type(game), self.rules) == game
        except (TypeError, ValueError):
            return False

    def check_game(self, game: Game) -> None:
        """Raise ValueError unless the file is for a game."""
        if not self.is_for(game):
            raise ValueError(f"it is a policy of {game_of(self.game, self.rules)}, not of {game}")


HEADER = dict.fromkeys(_Header._fields, LARGEST_TEXT)


def _read_header(file: Path) -> _Header:
    game, rules, objective, illegal = map(str, read_arrays(file, HEADER))
    header = _Header(game, from_json(rules), objective, illegal)
    if not isinstance(header.rules, dict):
        raise TypeError("its rules are not a dictionary")
    return header


def read_arrays(path: Path, largest: Mapping[str, int], tables: TurnTables | None = None) -> list[NDArray[Any]]:
    """Read arrays of numbers or text from an untrusted .npz file of this format.

    Args:
        path: the file.
        largest: the most bytes that each array may have, by its name.
        tables: the tables of its game, if these are all arrays of the file. Then they are compared with its SHA-256.

    Returns:
        The arrays in the order of `largest`.

    Raises:
        Exception: of almost any kind, if the file is damaged or has no such array, or an array is larger or holds
            Python objects.
    """
    if not path.is_file():
        raise ValueError("there is no regular file of this name")
    if path.stat().st_size > LARGEST:
        raise ValueError(f"it is larger than {LARGEST:,} bytes")
    with zipfile.ZipFile(path) as archive:
        if not np.array_equal(_read_array(archive, "format", 8), FORMAT):
            raise ValueError("it was written by another version of stb_gym; save it again")
        arrays = {name: _read_array(archive, name, most) for name, most in largest.items()}
        if tables is not None and "sha256.npy" in archive.namelist():
            digest = _read_array(archive, "sha256", 256)
            if digest not in (_sha256_of(arrays, tables), _sha256_of(arrays)):
                raise ValueError(f"{MISMATCH}, or its game has changed")
    return list(arrays.values())


def _read_array(archive: zipfile.ZipFile, name: str, most: int) -> NDArray[Any]:
    """Read an array of at most `most` bytes."""
    entry = archive.getinfo(f"{name}.npy")
    if entry.compress_type not in PACKED:
        raise ValueError(f"{name} is not packed as NumPy packs arrays")
    with archive.open(entry) as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError(f"{name} is not in version 1.0 of the .npy format")
        shape, by_columns, dtype = np.lib.format.read_array_header_1_0(file)
        count = int(np.prod(shape, dtype=object))
        if dtype.kind not in "iufU" or not 0 <= count * dtype.itemsize <= most:
            raise ValueError(f"{name} is {count:,} x {dtype}, not at most {most:,} bytes of numbers or text")
        data = bytearray(file.read(count * dtype.itemsize))
    return np.frombuffer(data, dtype, count).reshape(shape, order="F" if by_columns else "C")


def _write(path: str | Path, game: Game, objective: Objective, illegal: str, **arrays: Any) -> None:
    """Write arrays after the entries of `_Header` to an .npz file of this format, whole or not at all."""
    header = _Header(name_of(game), json.dumps(all_rules(game), default=int), objective.name, illegal)
    arrays = {name: np.asarray(array) for name, array in (header._asdict() | arrays).items()}
    digest = _sha256_of(arrays, compile_game(game))
    with write_aside(path) as aside, aside.open("wb") as file:
        np.savez_compressed(file, format=FORMAT, sha256=digest, **arrays)


def _sha256_of(arrays: Mapping[str, NDArray[Any]], tables: TurnTables | None = None) -> str:
    """Return the SHA-256 of the names, types, shapes and values of arrays, and of what the rules say in the tables."""
    rules = ("progress", "dice", "final_score", "state_probability", "pair_state", "pair_action", "pair_afterstate")
    of_tables = {} if tables is None else {name: getattr(tables, name) for name in rules}
    found = hashlib.sha256()
    for name, array in {**arrays, **of_tables}.items():
        found.update(f"{name} {array.dtype.str} {array.shape} ".encode() + array.tobytes())
    return found.hexdigest()


# The policies of all measurements of a training


def save_policies(path: Path, game: Game, policies: Mapping[int, Policy], objective: Goal = "score") -> None:
    """Write the policies of all measurements of a training to one .npz file, some ten kilobytes on nine tiles.

    The file names the game and the objective, and holds `steps` [K] and `actions` [D, K] at the D states with a legal
    action. The actions of a state are neighbours. They seldom change during a training, so that they compress well.

    Args:
        path: the file. It is written whole or not at all.
        game: the rules.
        policies: actions [S] by the steps after which they were measured.
        objective: what they play for.

    Raises:
        ValueError: if a policy is not an array of actions of the game.
    """
    if any(policy.ndim != 1 for policy in policies.values()):
        raise ValueError("policies of a training are actions: predict must not return probabilities")
    tables = compile_game(game)
    actions = np.stack([policy[tables.decisions] for policy in policies.values()], axis=1)
    if actions.dtype.kind not in "iu" or actions.min() < 0 or actions.max() >= tables.num_actions:
        raise ValueError(f"actions of {game} are integers from 0 to {tables.num_actions - 1}")
    actions = actions.astype(np.min_scalar_type(actions.max()))
    _write(path, game, objective_of(game, objective), "end", steps=list(policies), actions=actions)


def load_policies(path: str | Path, game: Game, illegal: str, objective: Goal | None = None) -> dict[int, Policy]:
    """Read a file that `save_policies` wrote; nothing in the file is executed.

    Args:
        path: the file.
        game: the rules that the policies must be for.
        illegal: "raise" refuses policies that take an illegal action, "end" lets it end the turn.
        objective: what the policies must play for; by default anything.

    Returns:
        Actions [S] by the steps after which they were measured.

    Raises:
        ValueError: if there is no such file, it is damaged, or holds no policies of this game and objective.
    """
    tables = compile_game(game)
    with reading(f"the policy {path}"):
        file = path_of(path)
        header = _read_header(file)
        header.check_game(game)
        if objective is not None and header.objective != (goal := objective_of(game, objective).name):
            raise ValueError(f"its policies play for {header.objective}, not for {goal}")
        *_, steps, actions = read_arrays(file, HEADER | {"steps": LARGEST, "actions": LARGEST}, tables)
        if (
            (steps.dtype.kind, steps.ndim, actions.dtype.kind) != ("i", 1, "u")
            or actions.shape != (len(tables.decisions), len(steps))
            or not len(steps)
            or (np.diff(steps, prepend=-1) <= 0).any()
        ):
            raise ValueError(f"it does not hold policies of {game}")
        policies = [tables.policy(of_step) for of_step in actions.T.astype(np.int64)]
        for policy in policies:
            pair_weights(tables, policy, illegal)
    return dict(zip(steps.tolist(), policies, strict=True))
