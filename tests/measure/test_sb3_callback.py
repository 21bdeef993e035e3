"""Test that the callback measures stock models of stable-baselines3 while they learn."""

import doctest
import json
import subprocess
import sys

import gymnasium as gym
import pytest
from sb3_contrib import MaskablePPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.callbacks import EveryNTimesteps
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.logger import configure

import stb_gym
from stb_gym.sb3 import RegretCallback, TurnVecEnv
from tests import every

pytestmark = pytest.mark.slow

BOX = "stb_gym/ShutTheBox-v0"
SIX = {"tiles": 6}
ENVIRONMENTS = {
    "gym.make": lambda: gym.make(BOX, **SIX),
    "make_vec_env": lambda: make_vec_env(BOX, n_envs=4, env_kwargs=SIX),
    "TurnVecEnv": lambda: TurnVecEnv(gym.make_vec(BOX, num_envs=4, autoreset_mode="SameStep", **SIX)),
}
ROLLOUTS = {"n_steps": 32, "batch_size": 32, "n_epochs": 1}
OPTIONS = {PPO: ROLLOUTS, MaskablePPO: ROLLOUTS, A2C: {}, DQN: {"learning_starts": 64, "learning_rate": 0.01}}
PAIRS = [(PPO, "gym.make"), (A2C, "make_vec_env"), (DQN, "TurnVecEnv"), (MaskablePPO, "TurnVecEnv")]


def model_of(algorithm, env, **options):
    narrow = {"net_arch": [16]}
    return algorithm("MlpPolicy", env, seed=1, device="cpu", policy_kwargs=narrow, **(OPTIONS[algorithm] | options))


def meter_of(**options):
    return stb_gym.RegretMeter(gym.make(BOX, **SIX, **options))


def train(callback, steps, **options):
    """Return a model that has learned on six tiles."""
    return model_of(PPO, gym.make(BOX, **SIX), **options).learn(steps, callback)


@pytest.mark.parametrize(("algorithm", "where"), every(3, PAIRS), ids=lambda each: getattr(each, "__name__", each))
def test_stock_models_are_measured_wherever_they_learn(algorithm, where):
    env = ENVIRONMENTS[where]()
    meter, model = stb_gym.RegretMeter(env), model_of(algorithm, env)
    callback = RegretCallback(meter, every=128)
    untrained = meter(model).summary()
    model.learn(256, callback)
    steps, summaries = zip(*callback.curve, strict=True)
    assert steps == ((0, 140, 260) if algorithm is A2C else (0, 128, 256))
    assert summaries[0] == untrained != summaries[-1]
    assert summaries[-1] == callback.evaluation.summary() == meter(model).summary()
    assert (untrained["illegal_mass"] == 0) is (algorithm is MaskablePPO)


@pytest.mark.parametrize("turns", every(2, [None, 100]))
def test_all_numbers_are_logged_at_their_steps(turns, tmp_path, capsys):
    meter, model = meter_of(), model_of(PPO, gym.make(BOX, **SIX))
    model.set_logger(configure(str(tmp_path), ["json"]))
    callback = RegretCallback(meter, every=64, turns=turns, verbose=1)
    model.learn(128, callback)
    model.logger.close()
    kind, expected = ("sampled", meter.sample(model, turns)) if turns else ("exact", meter(model))
    assert callback.evaluation.summary() == expected.summary()
    rows = [json.loads(line) for line in (tmp_path / "progress.json").read_text().splitlines()]
    logged = [row for row in rows if f"{kind}/regret" in row]
    assert [steps for steps, _ in callback.curve] == [0, 64, 128]
    assert callback.curve == [
        (row["time/total_timesteps"], {name: row[f"{kind}/{name}"] for name in expected.summary()}) for row in logged
    ]
    assert "train/loss" in logged[1]  # with what the model has logged by then
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[-1].startswith(f"       128 steps: regret {expected.regret:.4f}")


def test_learning_may_continue_or_restart():
    callback = RegretCallback(meter_of())
    model = train(callback, 64)
    model.learn(64, callback, reset_num_timesteps=False)
    model.learn(32, callback)
    assert [steps for steps, _ in callback.curve] == [0, 64, 128, 0, 32]


def test_models_that_sample_are_measured_by_their_probabilities():
    meter = meter_of()
    callback = RegretCallback(meter, deterministic=False)
    model = train(callback, 64)
    assert callback.evaluation.regret == meter(model, deterministic=False).regret != meter(model).regret


def test_the_best_policy_is_saved_and_not_the_last(tmp_path):
    meter = meter_of(objective="at-most:15")
    callback = RegretCallback(meter, 32, tmp_path / "best.npz")
    train(callback, 192, learning_rate=0.05, n_epochs=10)  # this rate makes the policy worse again
    saved = stb_gym.measure.read_policy(tmp_path / "best.npz")
    assert saved.evaluate().regret == callback.best.regret < callback.evaluation.regret
    assert (saved.game, saved.objective, saved.illegal) == (meter.game, meter.objective, meter.illegal)


def test_it_measures_when_an_outer_callback_calls_it():
    callback = RegretCallback(meter_of(), every=10**6)
    model_of(MaskablePPO, gym.make(BOX, **SIX)).learn(128, EveryNTimesteps(32, callback))
    steps, summaries = zip(*callback.curve, strict=True)
    assert steps == (0, 32, 64, 96, 128)
    assert summaries[0] == summaries[1]  # the first rollout is measured before the model learns from it
    assert callback.evaluation.summary() == summaries[-1] != summaries[0]


def test_refusals(tmp_path):
    meter = meter_of()
    with pytest.raises(TypeError, match="meter"):
        RegretCallback(gym.make(BOX, **SIX))
    with pytest.raises(ValueError, match="every"):
        RegretCallback(meter, every=0)
    with pytest.raises(ValueError, match="turns"):
        train(RegretCallback(meter, turns=0), 32)
    with pytest.raises(ValueError, match="save_path"):
        RegretCallback(meter, turns=100, save_path=tmp_path / "best.npz")
    with pytest.raises(ValueError, match="62 actions"):
        train(RegretCallback(stb_gym.RegretMeter(gym.make(BOX))), 32)


def test_the_module_is_an_attribute_and_names_what_it_needs():
    code = """
import sys, stb_gym
print(*sorted({"stb_gym.sb3", "torch"} & set(sys.modules)))
sys.modules["stable_baselines3"] = None
try:
    stb_gym.sb3
except ImportError as error:
    print(error)
"""
    lines = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert lines == ["", "stb_gym.sb3 needs stable-baselines3: pip install stable-baselines3"]
    assert stb_gym.sb3.RegretCallback is RegretCallback


@pytest.mark.nightly
def test_examples_run():
    result = doctest.testmod(stb_gym.sb3)
    assert result.failed == 0
    assert result.attempted >= 6


def test_parts_of_the_regret_are_logged_with_visits():
    envs = stb_gym.VectorRecordVisits(gym.make_vec(BOX, num_envs=4, autoreset_mode="SameStep", **SIX))
    callback = RegretCallback(meter_of(), every=128, visits=lambda: envs.visits, masked=False)
    model_of(PPO, TurnVecEnv(envs)).learn(256, callback)
    for _, summary in callback.curve:
        parts = [summary[name] for name in ("exploration", "sampling", "rest")]
        assert sum(parts) == pytest.approx(summary["regret"], abs=1e-12)
        assert "critic_bias" in summary
    explored = [summary["exploration"] for _, summary in callback.curve]
    assert explored[0] == callback.curve[0][1]["regret"] > explored[-1]
    with pytest.raises(ValueError, match="leave out turns"):
        RegretCallback(meter_of(), turns=100, visits=lambda: envs.visits)
