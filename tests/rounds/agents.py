"""Agents and strategies that the tests of rounds share."""

from functools import cache

import numpy as np

from stb_gym.rounds import ScoresSoFar
from stb_gym.solver import compile_game
from tests import cases
from tests.twins import in_our_words, our_score, twin


def as_agent(game, plays):
    """Return an agent that plays a policy, or a function of the arrays and the scores so far, by observations alone."""
    tables = compile_game(game)
    width = tables.observation.shape[1]

    @cache
    def policy(lead, holders, after):
        at = ScoresSoFar(int(tables.scores[lead]) if holders else None, holders, after)
        return plays(tables, at) if callable(plays) else plays

    def agent(observations, masks):
        answers = np.zeros(masks.shape)
        states = tables.find_states(observations[:, :width])
        for seen in np.unique(observations[:, width:], axis=0).astype(int).tolist():
            here = (observations[:, width:] == seen).all(axis=1)
            answers[here] = policy(*seen)[states[here]]
        return answers

    return agent


@cache
def some_strategy(game, seed):
    """Return a strategy that plays differently at all scores so far; see `cases.shares`."""
    other = twin(game)

    @cache
    def plays(tables, at):
        told = our_score(game, at.lead), at.holders, at.after
        return in_our_words(tables, lambda position, roll: cases.shares(other, seed, told, position, roll))

    return plays
