"""A network as a policy array: one pass over all nodes, which the library then evaluates exactly."""

from agents.config import Learner
from stb_gym import Game, Policy, policy_from


def policies(game: Game, learner: Learner) -> tuple[Policy, Policy]:
    """The greedy policy [N] of a learner, and the one [N, A] it explores with."""
    exploring = policy_from(game, learner.probabilities)
    return exploring.argmax(axis=1), exploring
