"""Every library's first line works: agents of nine libraries learn a little and are measured, in their own words.

PettingZoo, the tenth, tests the rounds whose seats are all agents.
They need an environment of their own, which `make libraries` makes; none of these tests is left out without a library.
"""

import stb_gym

BOX, THREES, MASKED = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0", "stb_gym/ShutTheBoxMasked-v0"
IDS = list(stb_gym.ENVIRONMENTS)


def measured(env, agent):
    """What an agent loses: exactly, or by turns where there are too many positions to ask it about."""
    meter = stb_gym.RegretMeter(env)
    return meter(agent) if meter.is_exact else meter.sample(agent, 200)
