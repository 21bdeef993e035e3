"""What commands answer about several players: rounds, matches and tournaments."""

import argparse

import stb_gym
from stb_gym.answers import named, player
from stb_gym.game import Game
from stb_gym.rounds import Round
from stb_gym.show import Result
from stb_gym.tournaments import RULES as TOURNAMENTS


def round(game: Game, options: argparse.Namespace) -> Result:
    """The equilibrium of a round of several players, or the exact chances of a line-up of strategies."""
    players = options.players
    if players is None:
        players = len(options.strategies) if options.strategies else 2
    rules = Round(game, players, options.ties, options.shut_wins, options.may_stop)
    lineup = options.strategies or ["optimal"] * players
    evaluation = rules.evaluate([player(game, name) for name in lineup])
    leads = rules.tables.scores.tolist()
    survival = {str(lead): chances for lead, chances in zip(leads, evaluation.survival.T.tolist(), strict=True)}
    result = {**_about_round(rules), "strategies": lineup, "seats": evaluation.seats.tolist()}
    result |= {"throws": evaluation.throws.tolist(), "survival": survival}
    if options.strategies:
        gains = [evaluation.best_response(seat).gain for seat in range(rules.players)]
        result |= {"best_response_gains": gains, "exploitability": sum(gains)}
    return result


def match(game: Game, options: argparse.Namespace) -> Result:
    """Win, loss and tie of the first of two players: of one round, and of a match of several."""
    rules = Round(game, 2, options.ties, options.shut_wins, options.may_stop)
    outcome = rules.evaluate([player(game, name) for name in options.strategies]).outcome
    whole = stb_gym.match(outcome, options.rounds)
    named = {"round": outcome._asdict(), "match": whole._asdict()}
    return {**_about_round(rules), "strategies": options.strategies, "rounds": options.rounds, **named}


def tournament(game: Game, options: argparse.Namespace) -> Result:
    """What each of several players wins of a tournament of many rounds, by their strategies."""
    players = [player(game, name) for name in options.strategies]
    ended = stb_gym.tournament(game, players, options.ends, options.limit, options.ties)
    rules = {"ends": ended.rule, "limit": ended.limit, "ties": ended.ties, "words": TOURNAMENTS[ended.rule]}
    won = {"strategies": options.strategies, "wins": ended.wins.tolist(), "mean_rounds": ended.mean_rounds}
    return {**named(game), **rules, **won, "rounds": ended.rounds.tolist()}


def _about_round(rules: Round) -> Result:
    shown = {name: getattr(rules, name) for name in ("players", "ties", "shut_wins", "may_stop")}
    return {**named(rules.game), **shown}
