"""All policies of a run in one file: what is written is read again, and what is none of the game is refused."""

import re

import numpy as np
import pytest

from stb_gym import ShutTheBox, compile_game, solve, strategy
from stb_gym.measure import load_policies, save_policies

GAME = ShutTheBox(tiles=4, faces=3)
TABLES = compile_game(GAME)
POLICIES = {0: strategy(GAME, "biggest-first"), 64: strategy(GAME, "fewest-then-biggest"), 256: solve(GAME).policy}
WRITTEN = {
    "steps": np.array([*POLICIES]),
    "actions": np.stack([each[TABLES.decisions] for each in POLICIES.values()], axis=1).astype(np.uint8),
}


def test_what_is_written_is_read_again(tmp_path):
    save_policies(tmp_path / "policies.npz", GAME, POLICIES)
    found = load_policies(tmp_path / "policies.npz", GAME, "raise")
    assert [*found] == [*POLICIES]
    for step, policy in POLICIES.items():
        assert found[step].tolist() == np.where(TABLES.choices > 0, policy, 0).tolist()


@pytest.mark.parametrize(
    "changes",
    [
        {"steps": None},
        {"actions": None},
        {"steps": np.array([0, 64, 64])},
        {"steps": np.array([-1, 64, 256])},
        {"steps": np.array([0.0, 64.0, 256.0])},
        {"steps": np.array([[0, 64, 256]])},
        {"actions": WRITTEN["actions"].astype(int)},
        {"actions": WRITTEN["actions"][1:]},
        {"actions": WRITTEN["actions"].T},
        {"steps": WRITTEN["steps"][:0], "actions": WRITTEN["actions"][:, :0]},
    ],
)
def test_what_is_no_history_of_the_game_is_refused(changes, tmp_path):
    path, entries = tmp_path / "policies.npz", {**WRITTEN, **changes}
    np.savez(path, **{name: array for name, array in entries.items() if array is not None})
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))} does not hold policies of {re.escape(str(GAME))}$"):
        load_policies(path, GAME, "raise")


def test_illegal_actions_are_refused_where_they_are_and_files_of_anything_else(tmp_path):
    path, actions = tmp_path / "policies.npz", WRITTEN["actions"].copy()
    actions[0, 1] = illegal = int(TABLES.legal()[TABLES.decisions[0]].argmin())
    np.savez(path, steps=WRITTEN["steps"], actions=actions)
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: .*illegal"):
        load_policies(path, GAME, "raise")
    assert load_policies(path, GAME, "end")[64][TABLES.decisions[0]] == illegal
    path.write_bytes(b"none")
    with pytest.raises(ValueError, match=r"is no file of policies, or is damaged$"):
        load_policies(path, GAME, "raise")
    with pytest.raises(ValueError, match=r"^there is no .*gone"):
        load_policies(tmp_path / "gone", GAME, "raise")
