"""Measuring agents against the exact optimum.

- `simulation`: sampled games, to hold against the exact numbers.
"""

from stb_gym.measure.simulation import Simulation, simulate

__all__ = ["Simulation", "simulate"]
