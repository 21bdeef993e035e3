"""Tests of the learners: their formulas, and what they learn."""

from stb_gym import RegretMeter


def regret_of(learner, game):
    """Return the exact regret of the most probable actions of a learner."""
    return RegretMeter(game)(lambda seen, masks: learner.probabilities(seen, masks).argmax(axis=1)).regret
