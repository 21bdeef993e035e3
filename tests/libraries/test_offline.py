"""The tutorial on offline data: one seed writes the same data, the stated values are exact, and the program runs."""

import re
import runpy
from types import SimpleNamespace

import minari
import numpy as np
import pytest

import stb_gym
from tests.libraries import BOX
from tests.tutorials import FOLDER

PROGRAM = SimpleNamespace(**runpy.run_path(str(FOLDER / "offline_data.py")))
NAMES = ["random", "biggest-first", "half-trained", "trained", "perfect"]
BEST = stb_gym.solve(stb_gym.ShutTheBox())
ROW = re.compile(r"^\| ([a-z][a-z-]+) \| (\d.*) \|$", re.MULTILINE)


@pytest.fixture(scope="module")
def policies():
    return PROGRAM.behaviours(seed=0)


def written(name, policy, folder, monkeypatch, episodes=30, seed=0):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(folder))
    PROGRAM.write(name, policy, episodes, seed)
    return minari.load_dataset(f"stb_gym/nine-tiles-{name}-v0")


def test_the_same_seed_writes_the_same_data(tmp_path, monkeypatch):
    policies = [PROGRAM.behaviours(seed)["trained"] for seed in (0, 0)]
    contents = []
    for copy, seed in enumerate((0, 0, 1)):
        written("trained", policies[copy % 2], tmp_path / str(copy), monkeypatch, seed=seed)
        [data] = (tmp_path / str(copy)).rglob("main_data.hdf5")
        contents.append(data.read_bytes())
    assert contents[0] == contents[1] != contents[2]


@pytest.mark.parametrize("name", NAMES)
def test_reloaded_turns_are_legal_and_whole(name, policies, tmp_path, monkeypatch):
    dataset = written(name, policies[name], tmp_path, monkeypatch)
    assert dataset.total_episodes == 30
    env = dataset.recover_environment()
    assert env.spec.id == BOX
    for episode in dataset:
        steps = np.arange(len(episode))
        states = env.unwrapped.find_states(episode.observations)
        masks = episode.infos["action_mask"]
        assert (masks[:-1] == BEST.tables.legal[states[:-1]]).all()
        assert masks[steps, episode.actions].all()
        assert masks[-1].all()
        assert episode.infos["action_probability"] == pytest.approx(policies[name][states[:-1], episode.actions])
        assert (episode.terminations == (steps == len(episode) - 1)).all()
        assert -episode.rewards.sum() == episode.observations[-1, :9] @ np.arange(1, 10)


@pytest.mark.parametrize("name", NAMES)
def test_the_stated_value_is_that_of_the_policy_and_of_play(name, policies, tmp_path, monkeypatch):
    dataset = written(name, policies[name], tmp_path, monkeypatch, episodes=2)
    exact = BEST.evaluate(policies[name])
    assert dataset.storage.metadata["behaviour_mean_points"] == pytest.approx(exact.value, abs=1e-9)
    assert dataset.storage.metadata["behaviour_regret"] == pytest.approx(exact.regret, abs=1e-9)
    assert f" leaves {exact.value:.6f} points" in dataset.storage.metadata["description"]
    assert minari.get_normalized_score(dataset, -exact.value) == pytest.approx(exact.normalised_score)
    points = [-buffer.rewards.sum() for buffer in PROGRAM.play(policies[name], 5_000, seed=0)]
    assert abs(np.mean(points) - exact.value) < 4 * np.std(points) / len(points) ** 0.5


def test_estimates_of_the_behaviour_itself_and_its_clone(policies, tmp_path, monkeypatch):
    behaviour = policies["half-trained"]
    data = PROGRAM.read(written("half-trained", behaviour, tmp_path, monkeypatch, episodes=300))
    points = -data.rewards.sum() / len(data.starts)
    assert PROGRAM.importance_sampling(data, behaviour) == pytest.approx(points, rel=1e-5)
    target = PROGRAM.one_hot(behaviour.argmax(axis=1))
    exact = BEST.evaluate(target).value
    assert abs(PROGRAM.importance_sampling(data, target) - exact) < abs(points - exact) / 2
    data.rewards[data.terminations] = -10  # the mean of equal returns, whatever their weights
    assert PROGRAM.importance_sampling(data, target) == pytest.approx(10)
    clone = PROGRAM.clone(data)
    seen = np.unique(data.states)
    assert (clone[seen].argmax(axis=1) == behaviour[seen].argmax(axis=1)).mean() > 0.85
    unseen = np.setdiff1d(BEST.tables.decisions, seen)
    assert clone[unseen].max(axis=1) == pytest.approx(1 / BEST.tables.choices[unseen])


def test_the_program_prints_exact_values_and_errors(policies, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MINARI_DATASETS_PATH", "")  # restored after the test
    PROGRAM.main(steps=5, episodes=20, folder=str(tmp_path))
    printed = capsys.readouterr().out
    check_table(printed, policies)
    [exact] = set(re.findall(r"exact ([\d.]+)", printed))
    rows = re.findall(r" ([\d.]+) \(([+-][\d.]+)\) ", printed)
    assert len(rows) == 10
    assert all(abs(float(estimate) - float(exact) - float(error)) < 0.11 for estimate, error in rows)
    assert len(minari.list_local_datasets()) == 5


def test_the_page_has_the_values_of_the_behaviours(policies):
    check_table((FOLDER / "offline_data.md").read_text(), policies)


def check_table(text, policies):
    target = BEST.evaluate(PROGRAM.one_hot(policies["trained"].argmax(axis=1)))
    assert set(re.findall(r"exact ([\d.]+)", text)) == {f"{target.value:.1f}"}
    rows = ROW.findall(text)
    assert [name for name, _ in rows] == NAMES
    for name, cells in rows:
        exact = BEST.evaluate(policies[name])
        assert cells.split(" | ")[:2] == [f"{exact.value:#.3g}", f"{exact.regret:#.3g}"]
