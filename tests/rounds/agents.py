"""Agents and strategies that several tests of rounds use."""

from functools import cache

import numpy as np

from stb_gym.rounds import ScoresSoFar
from stb_gym.solver import compile_game
from tests import cases
from tests.twins import in_our_words, our_score, twin


def as_agent(game, strategy):
    """Return an agent that plays a function of the arrays and the scores so far, and sees observations alone."""
    tables = compile_game(game)
    width = tables.observation.shape[1]

    @cache
    def policy(lead, holders, after):
        return strategy(tables, ScoresSoFar(int(tables.scores[lead]) if holders else None, holders, after))

    def agent(observations, masks):
        answers = np.zeros(masks.shape)
        states = tables.find_states(observations[:, :width])
        for seen in np.unique(observations[:, width:], axis=0).astype(int).tolist():
            here = (observations[:, width:] == seen).all(axis=1)
            answers[here] = policy(*seen)[states[here]]
        return answers

    return agent


@cache
def arbitrary_strategy(game, seed):
    """Return a strategy that plays differently at all scores so far; see `cases.arbitrary_move`."""
    other = twin(game)

    @cache
    def strategy(tables, seen):
        theirs = our_score(game, seen.lead), seen.holders, seen.after
        return in_our_words(tables, lambda position, roll: cases.arbitrary_move(other, seed, theirs, position, roll))

    return strategy
