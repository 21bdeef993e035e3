"""Snapshots of learners: what was forged or damaged in a file is refused, entry by entry, and nothing else happens."""

import numpy as np
import pytest

from agents.checkpoints import load_snapshot, load_weights, save_snapshot, save_weights
from agents.config import Task
from agents.snapshots import check_like
from tests.agents.small import BOX, OWN, config

THREE = Task(BOX, {"tiles": 3, "dice": 1, "faces": 3})
SETTINGS = {"dqn": {"warm_up": 64, "width": 4}, "ppo": {"n_steps": 4, "width": 4}, "afterstate-network": {"width": 4}}
GROWING = ("worth", "positions", "replay", "buffer")  # parts whose arrays have a row for everything seen


def forged(entry, grows):
    """An entry of a snapshot as it is in no snapshot of the same learner."""
    if isinstance(entry, np.ndarray):
        yield from (entry.astype(str), entry[None], entry.astype(np.complex64), entry.tolist(), None)
        if entry.ndim > grows:
            yield np.concatenate([entry, entry], axis=-1)
        if entry.dtype.kind == "f":
            yield from (np.full_like(entry, np.nan), np.full_like(entry, -np.inf), entry.astype(int))
        if entry.dtype.kind == "i":
            yield from (np.full_like(entry, -1), entry.astype(float))
        if entry.dtype.kind == "b":
            yield entry.astype(int)
    elif isinstance(entry, dict):
        yield from ([], {}, None, {**entry, "more": 1}, "text")
        for name, inner in entry.items():
            yield from ({**entry, name: other} for other in forged(inner, False))
    else:
        yield from (None, [entry], np.array([entry]), {"number": entry}, "another kind")
        if not isinstance(entry, str):
            yield from (-1, float("nan"), float("inf"), 2**200, str(entry))


@pytest.mark.parametrize("algorithm", [*OWN, "sb3-a2c", "sb3-dqn"])
def test_every_forged_entry_of_a_checkpoint_is_refused(algorithm, tmp_path):
    training = config(algorithm, THREE, changes=SETTINGS.get(algorithm), seed=3)
    learner, fresh = training.learner(), training.learner()
    learner.learn_until(150, lambda: None)
    save_snapshot(tmp_path / "checkpoint", learner.snapshot())
    whole = load_snapshot(tmp_path / "checkpoint")
    for number, (name, entry) in enumerate(whole.items()):
        if name.startswith(("weights", "learned", "optimizer")) and number % 5:  # which are alike, and many
            continue
        with pytest.raises(ValueError, match=r"^[^\n]+$"):
            fresh.restore({key: value for key, value in whole.items() if key != name})
        for other in forged(entry, name.partition(".")[0] in GROWING):
            if isinstance(other, list) and "env" in name:  # environments take lists of numbers, too
                continue
            with pytest.raises(ValueError, match=r"^[^\n]+$"):
                fresh.restore({**whole, name: other})
    with pytest.raises(ValueError, match="'unknown'"):
        fresh.restore({**whole, "unknown": 1})
    fresh.restore(whole)


@pytest.mark.parametrize("changes", [{"width": 8}, {"quantiles": 2}])
def test_weights_of_another_configuration_are_refused_and_change_nothing(changes, tmp_path):
    given = config("dqn", THREE, changes=SETTINGS["dqn"]).learner()
    save_weights(tmp_path / "weights", config("dqn", THREE, changes={**SETTINGS["dqn"], **changes}).learner())
    before = {name: array.copy() for name, array in given.weights().items()}
    with pytest.raises(ValueError, match=r"weights does not fit its configuration$"):
        load_weights(tmp_path / "weights", given)
    assert all((array == before[name]).all() for name, array in given.weights().items())


@pytest.mark.parametrize(
    ("name", "column", "number"),
    [
        ("rows", "position", 999),
        ("rows", "next", 999),
        ("waiting", "position", 999),
        ("rows", "action", 8),
        ("rows", "action", -1),
        ("rows", "reward", np.nan),
    ],
)
def test_transitions_of_positions_and_actions_that_are_none_are_refused(name, column, number):
    training = config("dqn", THREE, changes=SETTINGS["dqn"])
    learner = training.learner()
    learner.learn_until(64, lambda: None)
    whole = learner.snapshot()
    rows = whole["replay.rows"].view(learner._replay._rows.dtype).copy()
    rows[column][0] = number
    forged = {"replay.rows": rows.view(np.uint8), "replay.waiting": whole["replay.waiting"]}
    if name == "waiting":
        forged = {"replay.rows": whole["replay.rows"], "replay.waiting": rows.view(np.uint8)}
    with pytest.raises(ValueError, match="transitions"):
        training.learner().restore({**whole, **forged})
    for times in (0.0, -1.0):
        with pytest.raises(ValueError, match="the transitions are none"):
            training.learner().restore({**whole, "replay.times": np.full_like(whole["replay.times"], times)})
    with pytest.raises(ValueError, match="that were not seen"):
        training.learner().restore({**whole, "worth": np.zeros((999, 1), np.float32)})


def test_what_was_seen_last_is_an_observation():
    training = config("afterstate-network", THREE, changes=SETTINGS["afterstate-network"])
    whole = training.learner().snapshot()
    for name, message in (("playing.observation", "is no observation"), ("last.afterstate", "no afterstates")):
        with pytest.raises(ValueError, match=message):
            training.learner().restore({**whole, name: np.full_like(whole[name], 200)})


def test_every_roll_is_counted_once_before_it_is_seen():
    learner = config("limit", THREE).learner()
    with pytest.raises(ValueError, match="every roll is counted once before it is seen"):
        learner.load_weights({"counts": np.zeros_like(learner.weights()["counts"])})


def test_growing_arrays_have_any_number_of_rows_of_one_kind():
    own = {"rows.a": np.zeros((2, 3)), "b": 5, "other.c": 1}
    check_like({"rows.a": np.zeros((9, 3)), "b": 7, "other.c": "unseen"}, own, growing=["rows"], but=["other"])
    for rows in (np.zeros((9, 4)), np.zeros(9), np.zeros((9, 3), np.float32)):
        with pytest.raises(ValueError, match=r"the entry 'rows\.a' is no snapshot's of this learner"):
            check_like({"rows.a": rows, "b": 7, "other.c": 1}, own, growing=["rows"])
    with pytest.raises(ValueError, match="'b'"):
        check_like({"rows.a": np.zeros((9, 3)), "b": True, "other.c": 1}, own, growing=["rows"])


def test_what_was_seen_may_be_negative_and_what_is_counted_not():
    own = {"seen.observations": np.zeros((2, 3), np.int8), "counts": np.zeros(2, np.int64)}
    below = {name: array - 1 for name, array in own.items()}
    check_like({**own, "seen.observations": below["seen.observations"]}, own)
    with pytest.raises(ValueError, match="'counts'"):
        check_like({**own, "counts": below["counts"]}, own)


def test_a_buffer_has_its_own_size():
    training = config("sb3-dqn", THREE)
    learner = training.learner()
    learner.learn_until(20, lambda: None)
    whole = learner.snapshot()
    for forged in ({"buffer_pos": 10**7}, {"buffer.dones": whole["buffer.dones"][:-1]}):
        with pytest.raises(ValueError, match="the buffer has other rows than this learner's"):
            training.learner().restore({**whole, **forged})
    random, seen = {**whole["numpy_random"], "state": {"pos": 625}}, whole["last_obs"] + 99
    for forged in ({"numpy_random": random}, {"last_obs": seen}):
        with pytest.raises(ValueError, match="random numbers or observations are none"):
            training.learner().restore({**whole, **forged})
