"""The command `stb-gym`: results on standard output, as tables or as JSON; everything else on standard error."""

import argparse
import json
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from typing import Any, NoReturn

import numpy as np

from stb_gym import GAMES, STRATEGIES, show
from stb_gym.evaluate import Evaluation, Mistake, evaluate
from stb_gym.game import Game, check_names, make_game
from stb_gym.objectives import parse_objective
from stb_gym.policy import Policy, load_policy
from stb_gym.show import Result
from stb_gym.shut_the_box import SCORES, ShutTheBox
from stb_gym.simulate import simulate
from stb_gym.solve import solve
from stb_gym.strategies import strategy

RULES = ("tiles", "dice", "faces", "score")


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status (0, or 2 for bad input, which is explained in one line)."""
    options = _parser().parse_args(arguments)
    try:
        game = make_game(GAMES[options.game], {name: v for name in RULES if (v := getattr(options, name)) is not None})
        patience = nullcontext() if options.run is _simulate else _patience(f"stb-gym: still working on {game}")
        with patience:
            result = options.run(game, options)
        print(json.dumps(result) if options.json else options.show(result), flush=True)
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, OSError) as error:
        print(f"stb-gym: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stb-gym: interrupted", file=sys.stderr)
        return 130
    return 0


@contextmanager
def _patience(words: str) -> Iterator[None]:
    """Say something on standard error if the block takes longer than two seconds."""
    timer = threading.Timer(2, print, [words], {"file": sys.stderr})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"stb-gym: {message}\n")


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("game", choices=list(GAMES), metavar="GAME", help=" or ".join(GAMES))
    rules = common.add_argument_group("rules")
    rules.add_argument("--tiles", type=int, metavar="N", help="number of tiles (Shut the Box; default 9)")
    rules.add_argument("--dice", type=int, metavar="K", help="number of dice (default 2, Threes 5)")
    rules.add_argument("--faces", type=int, metavar="F", help="faces of every die (default 6)")
    rules.add_argument("--score", metavar="|".join(SCORES), help="what counts of the open tiles (default sum)")
    common.add_argument("--objective", default="score", metavar="score|shut|at-most:T", help="default score")
    common.add_argument("--json", action="store_true", help="print JSON instead of a table")

    who = argparse.ArgumentParser(add_help=False)
    policy = who.add_mutually_exclusive_group(required=True)
    names = "; ".join(f"{game}: {', '.join(strategies)}" for game, strategies in STRATEGIES.items())
    policy.add_argument("--strategy", metavar="NAME", help=names)
    policy.add_argument("--policy", metavar="FILE", help="a policy saved by stb_gym.save_policy")

    parser = _Parser(prog="stb-gym", description="Exact answers about Shut the Box and Threes.")
    commands: Any = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Callable[..., Result], show: Callable[[Result], str], *parents: Any) -> Any:
        added = commands.add_parser(name, help=run.__doc__, description=run.__doc__, parents=[common, *parents])
        added.set_defaults(run=run, show=show)
        return added

    solving = command("solve", _solve, show.solve)
    solving.add_argument("--worst", action="store_true", help="the worst play instead of the best")
    solving.add_argument("--exact", action="store_true", help="compute in fractions")
    command("evaluate", _evaluate, show.evaluate, who)
    advising = command("advise", _advise, show.advise)
    advising.add_argument("--open", type=_numbers, metavar="1,4,5,8", help="open tiles (Shut the Box; default all)")
    advising.add_argument("--roll", type=int, metavar="N", help="sum of the dice (Shut the Box)")
    advising.add_argument("--points", type=int, metavar="N", help="points so far (Threes; default 0)")
    advising.add_argument("--dice-shown", type=_numbers, metavar="3,1,6", help="the dice as thrown (Threes)")
    simulating = command("simulate", _simulate, show.simulate, who)
    simulating.add_argument("--games", type=int, default=100_000, metavar="N", help="default 100000")
    simulating.add_argument("--seed", type=int, metavar="S", help="same seed, same games")
    return parser


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")] if text else []


_numbers.__name__ = "list of numbers"  # argparse names the type in its message


def _solve(game: Game, options: argparse.Namespace) -> Result:
    """Solve a game: the value of perfect play."""
    began = time.perf_counter()
    solution = solve(game, options.objective, worst=options.worst, exact=options.exact)
    seconds = time.perf_counter() - began
    tables = solution.tables
    start = range(tables.node_start[tables.start], tables.node_start[tables.start + 1])
    first_rolls = {game.describe_roll(tables.node_roll(node)): float(solution.node_value[node]) for node in start}
    return {
        **_about(game, options),
        "play": "worst" if options.worst else "best",
        "value": float(solution.value),
        **({"fraction": f"{solution.value.numerator}/{solution.value.denominator}"} if options.exact else {}),
        "shut_probability": evaluate(game, solution.policy, options.objective).shut_probability,
        "states": tables.states,
        "decision_nodes": len(tables.decisions),
        "by_first_roll": first_rolls,
        "seconds": seconds,
    }


def _evaluate(game: Game, options: argparse.Namespace) -> Result:
    """Evaluate a strategy or a saved policy exactly."""
    evaluation = evaluate(game, _policy(game, options), options.objective)
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
        "plays": game.describe_move(mistake.plays),
        "best": game.describe_move(mistake.best),
        "visits": mistake.visits,
        "loss": mistake.loss,
        "cost": mistake.cost,
    }


def _advise(game: Game, options: argparse.Namespace) -> Result:
    """Every legal move at a position, best first."""
    state_option, roll_option = ("open", "roll") if isinstance(game, ShutTheBox) else ("points", "dice-shown")
    said = {"open": options.open, "roll": options.roll, "points": options.points, "dice-shown": options.dice_shown}
    where = {option: value for option, value in said.items() if value is not None}
    check_names(f"option for {game.name}", where, (state_option, roll_option))
    if roll_option not in where:
        raise ValueError(f"what was thrown is missing: say --{roll_option}")
    where["roll"] = where.pop(roll_option)
    held, dice, roll = game.locate(where)
    solution = solve(game, options.objective)
    tables = solution.tables
    node = tables.find_node(tables.find_state(held, dice), np.asarray(roll))
    edges = range(tables.edge_start[node], tables.edge_start[node + 1])
    best_first = sorted(edges, key=lambda edge: solution.edge_loss[edge])
    moves = [
        {
            **game.describe_move(int(tables.edge_action[edge])),
            "value": float(solution.state_value[tables.edge_next[edge]]),
            "regret": max(0.0, float(solution.edge_loss[edge])),
        }
        for edge in best_first
    ]
    value = float(solution.node_value[node])
    return {**_about(game, options), "node": tables.describe_node(node), "value": value, "moves": moves}


def _simulate(game: Game, options: argparse.Namespace) -> Result:
    """Play sampled games and compare their mean with the exact value."""
    began = last = time.monotonic()

    def progress(played: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - began > 2 and (now - last > 1 or played == options.games):
            last = now
            print(f"\r{played:,} of {options.games:,} games", end="", file=sys.stderr, flush=True)
            if played == options.games:
                print(file=sys.stderr)

    policy = _policy(game, options)
    simulation = simulate(game, policy, options.games, options.seed, options.objective, progress)
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


def _policy(game: Game, options: argparse.Namespace) -> Policy:
    return strategy(game, options.strategy) if options.strategy is not None else load_policy(options.policy, game)


def _about(game: Game, options: argparse.Namespace) -> Result:
    return {
        "game": game.name,
        "rules": asdict(game),  # type: ignore[call-overload]
        "objective": options.objective,
        "unit": parse_objective(options.objective).unit,
    }
