"""The round as Gymnasium environments, and the meter of agents in one seat against opponents that are known exactly.

- `opponents`: what they leave to the player, and what they make of what the player leaves; `draws` from that.
- `stepping`: the tables of the player's turn; `seat`: what the environments have in common.
- `env`: one round, one seat; `vector_env`: many at once; `self_play`: all seats of many rounds at once.
- `meter`: the exact chance to win of anybody's agent, and what the best response to the opponents wins more.
"""

from stb_gym.measure.rounds.env import RoundEnv
from stb_gym.measure.rounds.meter import RoundMeter, RoundRegret
from stb_gym.measure.rounds.opponents import Opponents, opponents_of
from stb_gym.measure.rounds.seat import StandingEnv
from stb_gym.measure.rounds.self_play import SelfPlayVectorEnv
from stb_gym.measure.rounds.vector_env import RoundVectorEnv

__all__ = [
    "Opponents", "RoundEnv", "RoundMeter", "RoundRegret", "RoundVectorEnv", "SelfPlayVectorEnv", "StandingEnv",
    "opponents_of",
]  # fmt: skip
