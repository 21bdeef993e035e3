"""Ask the peers about the same faults: two suites of probe environments, and the plain return.

Run it by hand after `python -m tests.check.zoo`; it fills their columns of docs/results/faults.csv. It needs
`pip install --no-deps agilerl probing-environments` (in another environment, whose packages are on PYTHONPATH).
"""

import random
import sys
from functools import cache
from importlib.metadata import version
from unittest.mock import MagicMock

import gymnasium as gym
import numpy as np
import torch

from stb_gym.envs import TurnEnv
from tests.check.zoo import group, ppo, table
from tests.check.zoo.registry import FAULTS

for name in ("components.data", "components.replay_buffer", "rollouts"):
    sys.modules[f"agilerl.{name}"] = MagicMock()  # what the probe environments themselves do not need
sys.modules["agilerl.components"] = MagicMock()

from agilerl.utils import probe_envs  # noqa: E402
from probing_environments import envs as probing  # noqa: E402

PROBES = {
    "agilerl": [
        probe_envs.ConstantRewardEnv, probe_envs.ObsDependentRewardEnv, probe_envs.DiscountedRewardEnv,
        probe_envs.FixedObsPolicyEnv, probe_envs.PolicyEnv,
    ],
    "probing_environments": [
        probing.ValueLossOrOptimizerEnv, probing.ValueBackpropEnv, probing.RewardDiscountingEnv,
        probing.AdvantagePolicyLossPolicyUpdateEnv, probing.PolicyAndValueEnv,
    ],
}  # fmt: skip
NOT_PROBED = {"evaluation"}  # families that no probe trains with
OF_PPO = {"num_steps": 32, "batch_size": 32, "num_epochs": 4, "max_grad_norm": 0.5, "entropy_coefficient": 0.01}
OF_DQN = {"tau": 1.0, "max_grad_norm": 10.0}
SEEDS = 3
GAMES = 60


class Shown(gym.ObservationWrapper):
    """Turn discrete observations into one-hot vectors; zeros if there is only one observation."""

    def __init__(self, env):
        super().__init__(env)
        space = env.observation_space
        self.size = int(space.n) if isinstance(space, gym.spaces.Discrete) else 0
        self.observation_space = gym.spaces.Box(0, 1, (self.size or 1,), np.float32)

    def reset(self, **options):
        observation, info = self.env.reset()  # not all of these environments take options
        return self.observation(observation), info

    def observation(self, observation):
        if self.size == 1:
            return np.zeros(1, np.float32)
        one_hot = np.eye(max(self.size, 1), dtype=np.float32)
        return one_hot[observation] if self.size else np.asarray(observation, np.float32).reshape(1)


def trained(learner, make, seed, discount, steps, rate, **changes):
    """Return a textbook learner after its training in an environment."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002, which the environments use
    env = make()
    shape, actions = env.observation_space.shape[0], int(env.action_space.n)
    is_ppo = issubclass(learner, ppo.PPO)
    options = OF_PPO if is_ppo else OF_DQN
    task = ppo.settings(shape, actions, learning_rate=rate, discount=discount, **options)
    made = learner(task, seed, torch.optim.Adam)
    vars(made).update(changes)
    made.learn([make(), make()] if is_ppo else [env], steps)
    return made


def expectations(make, suite, of_values):
    """Return what a suite expects of an environment: (observation, values or None, probabilities or None)."""
    if suite == "agilerl":
        probe = make()
        seen = [np.asarray(each, np.float32) for each in probe.sample_obs]
        values = (
            probe.q_values if of_values else [np.array([each]) if each is not None else None for each in probe.v_values]
        )
        policy = getattr(probe, "policy_values", None) or [None]
        return [
            (observation, values[min(at, len(values) - 1)], policy[min(at, len(policy) - 1)])
            for at, observation in enumerate(seen)
        ]
    names = {
        "ValueLossOrOptimizerEnv": [(0, 1.0, None)],
        "ValueBackpropEnv": [(0, 0.0, None), (1, 1.0, None)],
        "RewardDiscountingEnv": [(0, 0.5, None), (1, 1.0, None)],
        "AdvantagePolicyLossPolicyUpdateEnv": [(0, None, [1, 0])],
        "PolicyAndValueEnv": [(0, 1.0, [1, 0]), (1, 1.0, [0, 1])],
    }
    return [
        (np.full((1, 1), seen, np.float32), value if value is None else np.array([value]), policy)
        for seen, value, policy in names[make.__name__]
    ]


def probe_fails(learner, make, suite, seed=0):
    """Return whether a learner fails a probe."""
    is_ppo = issubclass(learner, ppo.PPO)
    expected = expectations(make, suite, not is_ppo)
    if all(values is None and policy is None for _, values, policy in expected):
        return False
    discount = 0.99 if suite == "agilerl" else 0.5
    steps, rate = (384, 0.05) if is_ppo else (250, 0.05)
    try:
        made = trained(learner, lambda: Shown(make()), seed, discount, steps, rate, scales=False)
    except Exception:  # an error is seen, whatever it is
        return True
    for observation, values, policy in expected:
        seen, mask = torch.as_tensor(observation), np.ones((1, made.task.num_actions), bool)
        with torch.no_grad():
            found = made.values(seen).numpy() if is_ppo else made.q_values(seen)[0].numpy()
        if values is not None:
            found = found if suite == "agilerl" else found.max(keepdims=True)
            if not abs(found - np.asarray(values).reshape(-1)).max() <= (0.2 if is_ppo and suite == "agilerl" else 0.1):
                return True
        if policy is not None:
            if is_ppo:
                chances = made.probabilities(observation, mask)[0]
            else:
                chances = np.eye(made.task.num_actions)[made.predict(observation, action_masks=mask)[0][0]]
            least = 0.8 if suite == "agilerl" else 0.9
            if chances[int(np.argmax(policy))] < least:
                return True
    return False


def play_returns(learner, seed):
    """Return the mean return that a learner reports after its training; NaN if it fails."""
    if issubclass(learner, group.Group):
        return learner(seed).learn(15)
    try:
        steps = 512 if issubclass(learner, ppo.PPO) else 250
        made = trained(learner, lambda: TurnEnv(ppo.GAME), seed, 1.0, steps, 0.01)
        env = TurnEnv(ppo.GAME)
        env.reset(seed=100 + seed)
        if issubclass(learner, ppo.PPO):
            rows = made.evaluate(env, 3 * GAMES)
            return float(np.sum(rows["reward"]) / max(np.sum(rows["done"]), 1))
    except Exception:  # an error is seen, whatever it is
        return np.nan
    total = 0.0
    for _ in range(GAMES):
        observation, info = env.reset()
        over = False
        while not over:
            action = int(made.predict(observation[None], action_masks=info["action_mask"][None] != 0)[0][0])
            observation, reward, terminated, truncated, info = env.step(action)
            over = terminated or truncated
            total += reward
    return total / GAMES


@cache
def right_returns(learner, first=0):
    return [play_returns(learner, seed) for seed in range(first, first + SEEDS)]


def of_returns(learner, base, first=0):
    """Return "yes" if the mean return of three seeds is outside of the range of the right learner's."""
    right = right_returns(base)
    mean = np.mean([play_returns(learner, first + seed) for seed in range(SEEDS)])
    return "no" if min(right) <= mean <= max(right) else "yes"


def of_probes(learner, suite):
    return "yes" if any(probe_fails(learner, make, suite) for make in PROBES[suite]) else "no"


if __name__ == "__main__":
    torch.set_num_threads(1)
    versions = f"agilerl {version('agilerl')}, probing-environments {version('probing-environments')}"
    found = {}
    for fault in FAULTS:
        base = table.base(fault)
        if sys.argv[1:] and fault.key not in sys.argv[1:]:
            continue
        row = found[fault.key] = {"key": fault.key, "peer_versions": versions}
        for suite in PROBES:
            is_probed = base is not group.Group and fault.family not in NOT_PROBED and fault.key != "stack-not-cleared"
            row[suite] = of_probes(fault.learner, suite) if is_probed else "n/a"
        row["return_curve"] = "n/a" if fault.key == "stack-not-cleared" else of_returns(fault.learner, base)
        print(fault.key, *(row[name] for name in table.PEERS), flush=True)
    table.write([row | found.get(row["key"], {}) for row in table.read()])
