"""Test that damaged or unreadable files give a one-line error, stay in place, and are never executed."""

import gzip
import io
import pickle
import random
import re
import shutil
import signal
import zipfile
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from agents import presets
from stb_gym import ShutTheBox, Threes, bundled_policies
from stb_gym.explorer import explorer_page
from stb_gym.measure import policy_files, read_policy
from tests import ROOT, Code, every
from tests.training.conftest import small
from tests.training.test_run import forged, interrupt
from training import run as running
from training.experiments.departures import KEY
from training.results import read_numbers, read_results, read_run, save_results
from training.run import Run, train

EDITED = ("presets.toml", "kept/ppo-threes.toml")  # people write them, so other values may be meant
RESUMED = ("run/config.json", "run/result.json", "run/policies.npz", "run/checkpoint.pt")
BOMB = bytes(2**24)


def presets_of(path):
    presets._read_tables.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(presets, "FILE", path)
        return [presets.read_preset(name, task) for name in ("ppo", "fitted-q") for task in presets.TASKS]


def policy_of(path):
    saved = read_policy(path)
    return saved.game, saved.objective.name, saved.illegal, saved.policy.tolist()


def kept_of(path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(policy_files, "BUNDLED", path.parent)
        return bundled_policies(Threes())


def checkpoint_of(path):
    training = running._Training(Run(path.parent).config, path.parent, "cpu")
    return forged(training.learner.state_dict()), repr(training.rows), repr(training.policies)


READ = {  # functions that read each kind of file
    "run/config.json": lambda path: Run(path.parent).config,
    "run/curve.csv": lambda path: Run(path.parent).curve().to_csv(),
    "run/result.json": lambda path: [Run(path.parent).result()[name] for name in ("finished", "steps", "greedy")],
    "run/weights.pt": lambda path: forged(Run(path.parent).learner().state_dict()["_networks"]),
    "run/checkpoint.pt": checkpoint_of,
    "run/policy.npz": policy_of,
    "run/policies.npz": lambda path: explorer_page(ShutTheBox(tiles=5), runs=[str(path.parent)]),
    "all.csv.gz": lambda path: read_results(path).to_csv(),
    "departures.csv.gz": lambda path: read_numbers(path, KEY).to_csv(),
    "presets.toml": presets_of,
    "kept/ppo-threes.npz": kept_of,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a whole file of every kind."""
    folder = tmp_path_factory.mktemp("files")
    interrupt(small("ppo"), folder / "run")
    save_results(folder / "all.csv.gz", read_run(folder / "run"))
    shutil.copy(ROOT / "docs/results/departures.csv.gz", folder)
    (folder / "presets.toml").write_bytes(presets.FILE.read_bytes())
    (folder / "kept").mkdir()
    shutil.copy(policy_files.BUNDLED / "ppo-threes.npz", folder / "kept")
    return folder


def refusal(read, *arguments):
    """Return the error of a function in one line, or None, and what it returns."""
    signal.alarm(60)  # ends the process
    try:
        return None, read(*arguments)
    except (ValueError, OSError) as error:
        message = str(error)
        assert message.isprintable()
        assert 0 < len(message) <= 200
        return message, None
    finally:
        signal.alarm(0)


@pytest.mark.parametrize("error", every(3, [PermissionError("not allowed"), OSError(5, "no disk"), MemoryError()]))
@pytest.mark.parametrize("name", READ)
def test_a_file_that_cannot_be_read_is_reported_and_kept(name, error, folder, monkeypatch):
    monkeypatch.chdir(folder)
    before, whole_open = [Path(each).read_bytes() for each in READ], io.open

    def fail(file, *arguments, **options):
        if str(file).endswith(name):
            raise error
        return whole_open(file, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(io, "open", fail)
        message, _ = refusal(READ[name], Path(name))
        assert (str(error) or "MemoryError") in message
        if name in RESUMED:
            assert refusal(train, small("ppo"), "run")[0] == message
    assert [Path(each).read_bytes() for each in READ] == before


def spoilt(whole, rng):
    """Yield contents that are cut, differ in one bit, have two bytes exchanged, or come twice."""
    part = min(100, len(whole) // 3)
    for start in (0, len(whole) // 2, len(whole) - part):
        for place in rng.sample(range(start, start + part), 4):
            yield whole[:place]
            flipped, exchanged = bytearray(whole), bytearray(whole)
            flipped[place] ^= 1 << rng.randrange(8)
            exchanged[place], exchanged[part] = whole[part], whole[place]
            yield from (flipped, exchanged)
    yield whole + whole


@cache
def bombs():
    """Return archives that unpack to 16 MiB."""
    packed = [gzip.compress(BOMB)]
    for name in ("policy.npy", "policy.pth", "archive/data.pkl"):
        with zipfile.ZipFile(bomb := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, BOMB)
        packed.append(bomb.getvalue())
    return packed


def foreign(suffix):
    """Return contents of other kinds: nothing, pickles, archives that unpack to much, and other files."""
    others = [path.read_bytes() for path in map(Path, READ) if path.suffix != suffix]
    return [b"", pickle.dumps(Code()), forged(Code()), *bombs(), *others]


def forgeries(suffix, whole):
    """Yield whole files with other numbers, shapes or types, or with a program."""
    if suffix == ".npz":
        arrays = dict(np.load(io.BytesIO(whole)))
        key = min(arrays.keys() & {"actions", "policy"})
        right = arrays[key]
        huge, program = np.zeros((2**22, 1), np.uint8), np.array([Code()], object)
        for wrong in (right + np.nan, right + np.inf, right[1:], right[::-1], right.astype(np.float32), huge, program):
            np.savez_compressed(file := io.BytesIO(), **arrays | {key: wrong})
            yield file.getvalue()
    elif suffix == ".pt":
        weights = torch.load("run/weights.pt", weights_only=True)["_networks"]
        huge = torch.zeros(1).expand(2**40)
        for change in (torch.neg, torch.log, lambda right: right[..., 1:], torch.Tensor.long, lambda _: huge):
            yield forged({"_networks": {name: change(right) for name, right in weights.items()}})
    elif suffix == ".gz":
        frame = pd.read_csv(io.BytesIO(whole), compression="gzip")
        for number in (np.nan, np.inf):
            yield gzip.compress(frame.assign(regret=number).to_csv(index=False).encode())
    elif suffix != ".zip":
        numbers = [found.span() for found in re.finditer(rb"\d+\.\d+", whole)]
        for low, high in numbers[:: len(numbers) // 3 + 1]:
            yield from (whole[:low] + number + whole[high:] for number in (b"nan", b"inf", b"1e999", b"0.5"))


@pytest.mark.parametrize(("name", "step"), every(5, product(READ, (9, 1))))
def test_damaged_files_are_refused(name, step, folder, monkeypatch):
    monkeypatch.chdir(folder)
    path = Path(name)
    whole, expected, names = path.read_bytes(), READ[name](path), sorted(folder.rglob("*"))
    contents = [*spoilt(whole, random.Random(name)), *foreign(path.suffix), *forgeries(path.suffix, whole)]
    for content in contents[::-step]:
        path.write_bytes(content)
        message, found = refusal(READ[name], path)
        assert message or found == expected or name in EDITED
        assert path.read_bytes() == content
    path.unlink()
    path.mkdir()
    assert refusal(READ[name], path)[0]
    path.rmdir()
    path.write_bytes(whole)
    assert sorted(folder.rglob("*")) == names  # nothing was executed or removed
