"""What each command answers, as plain results ready for JSON."""

import argparse
import math
import sys
import time
from dataclasses import asdict

import numpy as np

import stb_gym
from stb_gym import certify as certifying
from stb_gym import simulate as sampling
from stb_gym.board_tables import BoardTables
from stb_gym.book import write_book
from stb_gym.box_answers import board_values, solve_by_boards
from stb_gym.evaluate import Evaluation, Mistake
from stb_gym.game import Game, check_integer, check_names, title
from stb_gym.objectives import parse_objective
from stb_gym.play import play as play_in_terminal
from stb_gym.play import play_alone
from stb_gym.policy import Policy, load_policy
from stb_gym.rounds import Round
from stb_gym.show import Result, counter, news
from stb_gym.shut_the_box import ShutTheBox
from stb_gym.strategies import in_words, strategy
from stb_gym.tables import fits
from stb_gym.threes import Threes
from stb_gym.turns import edge_move

# What the options of `advise` that say a position are called by the rules.
POSITIONS = {
    ShutTheBox.name: {"open": "open", "dice-in-hand": "dice", "roll": "roll"},
    Threes.name: {"points": "points", "dice-shown": "roll"},
}


def solve(game: Game, options: argparse.Namespace) -> Result:
    """Solve a game: the value of perfect play."""
    began = time.perf_counter()
    about = {**_about(game, options), "play": "worst" if options.worst else "best"}
    if options.out is not None or not fits(game):
        if options.worst or options.exact:
            raise ValueError("the worst play and fractions are for games that fit into arrays, and are not saved")
        return {**about, **solve_by_boards(game, options), "seconds": time.perf_counter() - began}
    solution = stb_gym.solve(game, options.objective, worst=options.worst, exact=options.exact)
    seconds = time.perf_counter() - began
    tables = solution.tables
    start = range(tables.node_start[tables.start], tables.node_start[tables.start + 1])
    first_rolls = {game.describe_roll(tables.node_roll(node)): float(solution.node_value[node]) for node in start}
    return {
        **about,
        "value": float(solution.value),
        **({"fraction": f"{solution.value.numerator}/{solution.value.denominator}"} if options.exact else {}),
        "shut_probability": stb_gym.evaluate(game, solution.policy, options.objective).shut_probability,
        "states": tables.states,
        "decision_nodes": len(tables.decisions),
        "by_first_roll": first_rolls,
        "seconds": seconds,
    }


def certify(game: Game, options: argparse.Namespace) -> Result:
    """Solve a game in fractions, check that solution and the one in floats, and tell the hash of all values."""
    certificate = certifying.certify(game, options.objective, news())
    if options.out is not None:
        certificate.save(options.out)
    value = certificate.value
    return {
        **_about(game, options),
        "value": float(value),
        "fraction": f"{value.numerator}/{value.denominator}",
        "states": certificate.states,
        "nodes": certificate.nodes,
        "largest_error": certificate.largest_error,
        "largest_relative_error": certificate.largest_relative_error,
        "optimal_actions_agree": certificate.optimal_actions_agree,
        "sha256": certificate.sha256,
        **({"out": options.out} if options.out is not None else {}),
    }


def evaluate(game: Game, options: argparse.Namespace) -> Result:
    """Evaluate a strategy or a saved policy exactly."""
    policy = _policy(game, options, options.illegal)
    evaluation = stb_gym.evaluate(game, policy, options.objective, options.illegal)
    return {
        **_about(game, options),
        "policy": options.strategy or options.policy,
        **evaluation.summary(),
        "score_distribution": {str(score): chance for score, chance in evaluation.score_distribution.items()},
        "mistakes": [_mistake(game, evaluation, mistake) for mistake in evaluation.mistakes(10)],
    }


def _mistake(game: Game, evaluation: Evaluation, mistake: Mistake) -> Result:
    return {
        "node": evaluation.tables.describe_node(mistake.node),
        "plays": None if mistake.plays is None else game.describe_move(mistake.plays),
        "best": game.describe_move(mistake.best),
        "visits": mistake.visits,
        "loss": mistake.loss,
        "cost": mistake.cost,
    }


def advise(game: Game, options: argparse.Namespace) -> Result:
    """Every legal move at a position, best first."""
    held, dice, roll = game.locate(_position(game, options))
    values = board_values(game, options)
    known = BoardTables(values) if values else stb_gym.solve(game, options.objective)
    tables = known.tables
    node = tables.find_node(tables.find_state(held, dice), np.asarray(roll))
    sign, worth = known.objective.sign, known.node_utility[node]
    by_edge = {edge: known.state_utility[tables.edge_next[edge]] for edge in tables.edges_of(node)}
    moves = [
        {
            **edge_move(tables, edge),
            "value": float(sign * by_edge[edge] + 0),
            "regret": max(0.0, float(worth - by_edge[edge])),
        }
        for edge in sorted(by_edge, key=lambda edge: -by_edge[edge])
    ]
    value = float(sign * worth + 0)
    return {**_about(game, options), "node": tables.describe_node(node), "value": value, "moves": moves}


def _position(game: Game, options: argparse.Namespace) -> Result:
    """The position that the options of `advise` say, as the rules' `locate` wants it."""
    said = {option: getattr(options, option.replace("-", "_")) for of in POSITIONS.values() for option in of}
    words = POSITIONS[game.name]
    given = {option: value for option, value in said.items() if value is not None}
    check_names(f"option for {game.name}", given, words)
    if "roll" not in (where := {words[option]: value for option, value in given.items()}):
        raise ValueError(f"what was thrown is missing: say --{list(words)[-1]}")
    if isinstance(game, ShutTheBox) and len(where["roll"]) == 1:
        where["roll"] = where["roll"][0]
    return where


def simulate(game: Game, options: argparse.Namespace) -> Result:
    """Play sampled games and compare their mean with the exact value."""
    tell = counter("games played")
    policy = _policy(game, options)
    simulation = sampling.simulate(
        game, policy, options.games, options.seed, options.objective, lambda played: tell(played, options.games)
    )
    return {
        **_about(game, options),
        "policy": options.strategy or options.policy,
        "games": options.games,
        "seed": options.seed,
        "mean": simulation.mean,
        "standard_error": simulation.standard_error,
        "exact": simulation.exact,
        "z": simulation.z if math.isfinite(simulation.z) else None,
    }


def strategies(game: Game | None, options: argparse.Namespace) -> Result:
    """The named strategies and, for a game, what they are worth."""
    parse_objective(options.objective)
    if game is None:
        return {"strategies": {name: in_words(name) for name in stb_gym.STRATEGIES}}
    rows = []
    for name, words in in_words(game.name).items():
        evaluation = stb_gym.evaluate(game, stb_gym.strategy(game, name), options.objective)
        numbers = {"value": evaluation.value, "regret": evaluation.regret}
        rows.append({"name": name, "plays": words, **numbers, "shut_probability": evaluation.shut_probability})
    return {**_about(game, options), "strategies": rows}


def play(game: Game, options: argparse.Namespace) -> None:
    """Play in the terminal: a turn, or a round against strategies; with a coach who knows what every choice costs."""
    opponents = [(name, player(game, name)) for name in options.against]
    if opponents and options.values is not None:
        raise ValueError("values of boards are for a turn alone, without --against")
    if not opponents and (options.ties != "all-win" or options.shut_wins or options.may_stop):
        raise ValueError("ties, shut-wins and may-stop are rules of a round: name somebody to play it by --against")
    if not opponents and (values := board_values(game, options)):
        check_integer("seat", options.seat, 1, 1)
        return play_alone(BoardTables(values), options.coach, options.seed)
    rules = Round(game, 1 + len(opponents), options.ties, options.shut_wins, options.may_stop)
    play_in_terminal(rules, options.objective, opponents, options.seat, options.coach, options.seed)


def tables(game: Game, options: argparse.Namespace) -> Result:
    """Write every table and picture of a game into a folder, and a page that shows them all."""
    files = write_book(game, options.out, force=options.force, progress=lambda name: print(name, file=sys.stderr))
    return {**named(game), "out": options.out, "files": files}


def named(game: Game) -> Result:
    """What every result says of its game."""
    return {"game": game.name, "rules": asdict(game), "title": title(game)}  # type: ignore[call-overload]


def player(game: Game, name: str) -> str | Policy:
    """A strategy by name, or a saved policy by its file."""
    return load_policy(name, game) if name.endswith(".npz") else name


def _policy(game: Game, options: argparse.Namespace, illegal: str = "raise") -> Policy:
    if options.strategy is not None:
        return strategy(game, options.strategy)
    return load_policy(options.policy, game, illegal)


def _about(game: Game, options: argparse.Namespace) -> Result:
    return {**named(game), "objective": options.objective, "unit": parse_objective(options.objective).unit}
