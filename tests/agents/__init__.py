"""Tests of the learners: their formulas, and what they learn."""

import gymnasium as gym

from stb_gym import RegretMeter

BOX, THREES = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0"


def make(env=BOX, num_envs=64, **options):
    """Return environments; boxes have five tiles by default."""
    rules = {"tiles": 5} if env == BOX else {}
    return gym.make_vec(env, num_envs, autoreset_mode="SameStep", **{**rules, **options})


def with_rewards(envs, reward=1.0):
    """Add a reward to every step of environments, also to a step that a limit cuts off; games reward the last one."""
    step = envs.step

    def rewarded(actions):
        observation, rewards, *rest = step(actions)
        return (observation, rewards + reward, *rest)

    envs.step = rewarded
    return envs


def record(owner, name):
    """Let a method of an object also keep its results in the list that is returned."""
    results, method = [], getattr(owner, name)
    setattr(owner, name, lambda *given: results.append(method(*given)) or results[-1])
    return results


def regret_of(learner, game):
    """Return the exact regret of the greedy policy of a learner."""
    return RegretMeter(game)(learner.act).regret


def seen(tables):
    """Return the observations and masks of all decisions."""
    return tables.observation[tables.decisions], tables.legal[tables.decisions]
