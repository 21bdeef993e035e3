"""The callback: stock models of stable-baselines3, measured exactly while they learn."""

import doctest
import json
import subprocess
import sys

import gymnasium as gym
import pytest
from sb3_contrib import QRDQN, MaskablePPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.callbacks import EveryNTimesteps
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.logger import configure

import stb_gym
from stb_gym.sb3 import RegretCallback, TurnVecEnv

BOX = "stb_gym/ShutTheBox-v0"
SIX = {"tiles": 6}
ENVIRONMENTS = {
    "gym.make": lambda: gym.make(BOX, **SIX),
    "make_vec_env": lambda: make_vec_env(BOX, n_envs=4, env_kwargs=SIX),
    "TurnVecEnv": lambda: TurnVecEnv(gym.make_vec(BOX, num_envs=4, autoreset_mode="SameStep", **SIX)),
}
NARROW = {"net_arch": [16]}
ROLLOUTS = {"n_steps": 64, "batch_size": 64, "n_epochs": 2, "policy_kwargs": NARROW}
MODELS = {
    PPO: ROLLOUTS,
    A2C: {"policy_kwargs": NARROW},
    DQN: {"learning_starts": 64, "learning_rate": 0.01, "policy_kwargs": NARROW},
    QRDQN: {"learning_starts": 64, "learning_rate": 0.01, "policy_kwargs": {"n_quantiles": 10, **NARROW}},
    MaskablePPO: ROLLOUTS,
}
# Every model, and every way to make environments, each of which hands masks on in its own.
PAIRS = [
    (PPO, "gym.make"),
    (A2C, "make_vec_env"),
    (DQN, "TurnVecEnv"),
    (QRDQN, "gym.make"),
    *((MaskablePPO, where) for where in ENVIRONMENTS),
]


def model_of(algorithm, env, **options):
    return algorithm("MlpPolicy", env, seed=1, device="cpu", **{**MODELS[algorithm], **options})


@pytest.mark.parametrize(("algorithm", "where"), PAIRS, ids=lambda each: getattr(each, "__name__", each))
def test_stock_models_are_measured_wherever_they_learn(algorithm, where, tmp_path):
    env = ENVIRONMENTS[where]()
    meter = stb_gym.RegretMeter(env)
    callback = RegretCallback(meter, every=256, save_path=tmp_path / "best.npz")
    model = model_of(algorithm, env)
    untrained = meter(model).regret
    model.learn(512, callback)
    assert [steps for steps, _ in callback.curve] == ([0, 256, 512] if algorithm is not A2C else [0, 260, 520])
    assert callback.curve[0][1]["regret"] == untrained
    assert callback.curve[-1][1] == callback.evaluation.summary() == meter(model).summary()
    masked = algorithm is MaskablePPO
    assert (callback.curve[0][1]["illegal_mass"] == 0) is masked
    regrets = [summary["regret"] for _, summary in callback.curve]
    assert len(set(regrets)) > 1
    assert callback.best.regret == min(regrets)
    best = stb_gym.load_policy(tmp_path / "best.npz", meter.game, illegal="raise" if masked else "end")
    assert meter.optimum.evaluate(best, "end").regret == min(regrets)


def short_training(callback, steps=512, **options):
    env = gym.make(BOX, **SIX)
    return callback, model_of(PPO, env, **options).learn(steps, callback)


def test_all_numbers_are_logged_at_their_steps(tmp_path):
    model = model_of(PPO, gym.make(BOX, **SIX))
    model.set_logger(configure(str(tmp_path), ["json"]))
    callback = RegretCallback(stb_gym.RegretMeter(model.env), every=128)
    model.learn(256, callback)
    model.logger.close()
    rows = [json.loads(line) for line in (tmp_path / "progress.json").read_text().splitlines()]
    logged = [row for row in rows if "exact/regret" in row]
    assert [row["time/total_timesteps"] for row in logged] == [0, 128, 256]
    for row, (_, summary) in zip(logged, callback.curve, strict=True):
        assert {name: row[f"exact/{name}"] for name in summary} == summary
    assert "train/loss" in logged[1]  # what the model has logged by then goes with them
    assert any("rollout/ep_rew_mean" in row for row in rows)


def test_learning_goes_on_where_it_stopped_or_from_the_beginning():
    callback, model = short_training(RegretCallback(stb_gym.RegretMeter(gym.make(BOX, **SIX))), 128)
    model.learn(128, callback, reset_num_timesteps=False)
    assert [steps for steps, _ in callback.curve] == [0, 128, 256]
    model.learn(64, callback)
    assert [steps for steps, _ in callback.curve] == [0, 128, 256, 0, 64]


def test_it_measures_no_more_often_than_told_nor_than_the_policy_changes():
    meter = stb_gym.RegretMeter(gym.make(BOX, **SIX))
    often, _ = short_training(RegretCallback(meter, every=1), 256)
    seldom, _ = short_training(RegretCallback(meter, every=200), 512)
    assert [steps for steps, _ in often.curve] == [0, 64, 128, 192, 256]
    assert [steps for steps, _ in seldom.curve] == [0, 256, 448, 512]


def test_policies_that_sample_are_measured_by_their_probabilities():
    meter = stb_gym.RegretMeter(gym.make(BOX, **SIX))
    callback, model = short_training(RegretCallback(meter, deterministic=False), 128)
    assert callback.evaluation.regret == meter(model, deterministic=False).regret != meter(model).regret
    assert callback.meter.policy(model, deterministic=False).ndim == 2


def test_the_best_policy_is_kept_and_not_the_last(tmp_path):
    """With a learning rate like this the policy becomes worse again."""
    meter = stb_gym.RegretMeter(gym.make(BOX, **SIX))
    options = {"learning_rate": 0.05, "n_epochs": 10}
    callback, _ = short_training(RegretCallback(meter, 64, tmp_path / "best.npz"), 512, **options)
    kept = stb_gym.read_policy(tmp_path / "best.npz").policy
    assert meter.optimum.evaluate(kept, "end").regret == callback.best.regret < callback.evaluation.regret


def test_the_kept_policy_says_what_it_is_of(tmp_path):
    env = gym.make(BOX, **SIX, objective="shut")
    meter = stb_gym.RegretMeter(env)
    model_of(PPO, env).learn(64, RegretCallback(meter, save_path=tmp_path / "best.npz"))
    kept = stb_gym.read_policy(tmp_path / "best.npz")
    assert (kept.game, kept.objective, kept.illegal) == (meter.game, meter.objective, meter.illegal)


def test_one_line_for_each_measurement(capsys):
    short_training(RegretCallback(stb_gym.RegretMeter(gym.make(BOX, **SIX)), verbose=1), 64)
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("         0 steps: regret ")
    assert last.startswith("        64 steps: regret ")


@pytest.mark.parametrize("deterministic", [True, False])
def test_turns_are_sampled_where_they_are_asked_for_and_told_apart(tmp_path, capsys, deterministic):
    env = gym.make(BOX, **SIX)
    meter = stb_gym.RegretMeter(env)
    model = model_of(PPO, env)
    model.set_logger(configure(str(tmp_path), ["json"]))
    callback = RegretCallback(meter, 128, deterministic=deterministic, verbose=1, turns=4000, seed=5)
    model.learn(256, callback)
    model.logger.close()
    assert [steps for steps, _ in callback.curve] == [0, 128, 256]
    last = meter.sample(model, 4000, 5, deterministic)
    assert callback.curve[-1][1] == callback.evaluation.summary() == last.summary()
    assert abs(last.regret - meter(model, deterministic).regret) <= 4 * last.standard_error
    assert callback.best.regret == min(summary["regret"] for _, summary in callback.curve)
    rows = [json.loads(line) for line in (tmp_path / "progress.json").read_text().splitlines()]
    logged = [row for row in rows if "sampled/regret" in row]
    for row, (_, summary) in zip(logged, callback.curve, strict=True):
        assert {name: row[f"sampled/{name}"] for name in summary} == summary
    assert not any(name.startswith("exact/") for row in rows for name in row)
    line = f"       256 steps: regret {last.regret:.4f} +- {last.standard_error:.4f}"
    assert capsys.readouterr().out.splitlines()[-1] == line


def test_inside_another_callback_it_measures_when_that_one_calls(tmp_path):
    env = gym.make(BOX, **SIX)
    meter = stb_gym.RegretMeter(env)
    inside, path = RegretCallback(meter, every=10**6, save_path=tmp_path / "best.npz"), tmp_path / "best.npz"
    model_of(MaskablePPO, env).learn(256, EveryNTimesteps(64, inside))
    assert [steps for steps, _ in inside.curve] == [0, 64, 128, 192, 256]
    regrets = [summary["regret"] for _, summary in inside.curve]
    assert regrets[0] == regrets[1]  # as the first rollout is measured before it is learned from
    assert inside.evaluation.regret == regrets[-1] != regrets[0]
    assert inside.best.regret == min(regrets)
    assert meter.solution.evaluate(stb_gym.load_policy(path, meter.game)).regret == inside.best.regret
    listed = RegretCallback(meter, every=64)
    model_of(MaskablePPO, env).learn(128, [listed])
    assert [steps for steps, _ in listed.curve] == [0, 64, 128]


def test_what_it_refuses(tmp_path):
    meter = stb_gym.RegretMeter(gym.make(BOX, **SIX))
    with pytest.raises(TypeError, match=r"needs a meter, such as stb_gym\.RegretMeter\(env\), not <stb_gym"):
        RegretCallback(gym.make(BOX, **SIX))
    with pytest.raises(ValueError, match="every must be"):
        RegretCallback(meter, every=0)
    with pytest.raises(ValueError, match="turns must be"):
        RegretCallback(meter, turns=0)
    with pytest.raises(ValueError, match=r"^save_path is for exact measurements: sampled turns do not tell the whole"):
        RegretCallback(meter, turns=100, save_path=tmp_path / "best.npz")
    with pytest.raises(ValueError, match="62 actions"):
        short_training(RegretCallback(stb_gym.RegretMeter(gym.make(BOX))))


def test_the_module_is_an_attribute_and_says_what_it_needs():
    code = """
import sys, stb_gym
print(*sorted({"stb_gym.sb3", "torch"} & set(sys.modules)))
sys.modules["stable_baselines3"] = None
try:
    stb_gym.sb3
except ImportError as error:
    print(error)
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert told == ["", "stb_gym.sb3 needs stable-baselines3: pip install stable-baselines3"]
    assert stb_gym.sb3.RegretCallback is RegretCallback
    with pytest.raises(AttributeError, match="has no attribute 'sb4'"):
        _ = stb_gym.sb4


def test_examples_run():
    result = doctest.testmod(stb_gym.sb3)
    assert result.failed == 0
    assert result.attempted >= 6
