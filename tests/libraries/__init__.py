"""Agents of eleven libraries learn a little and are measured, in each library's own words.

PettingZoo tests the rounds whose seats are all agents; in verifiers, OpenEnv and the trainers of language models,
strategies play in words. `make libraries` makes their environment. No test is skipped without a library, but those of
the trainers whose own dependencies conflict with the rest: tinker-cookbook, AgileRL, GEM and Inspect.
"""

import gymnasium as gym

import stb_gym

BOX, THREES, MASKED = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0", "stb_gym/ShutTheBoxMasked-v0"
IDS = list(stb_gym.ENVIRONMENTS)


def measured(env, agent, masked=None):
    """Evaluate an agent exactly, or by 200 turns if there are too many positions."""
    meter = stb_gym.RegretMeter(env)
    return meter(agent, masked=masked) if meter.is_exact else meter.sample(agent, 200, masked=masked)


def losses_of(name, policy, seed):
    """Return the losses of a policy in the turn of an environment with one seed, forced moves included."""
    env = stb_gym.RecordRegret(gym.make(name))
    env.reset(seed=seed)
    losses, over = [], False
    while not over:
        _, _, over, _, info = env.step(int(policy[env.unwrapped.state]))
        losses.append(info["loss"])
    return losses
