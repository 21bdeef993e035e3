"""The command `stb-gym`: answers on standard output, as tables or as JSON; everything else on standard error."""

import argparse
import importlib
import io
import json
import os
import signal
import sys
from typing import Any, NoReturn

from stb_gym.command.advising import Advise
from stb_gym.command.contests import AskMatch, AskRound, AskTournament
from stb_gym.command.evaluating import Evaluate, Simulate, Strategies
from stb_gym.command.flags import add_flags, add_rules, question_from, rules_from, rules_of_variant
from stb_gym.command.playing import Play
from stb_gym.command.solving import Certify, Solve
from stb_gym.command.variants import AskVariants
from stb_gym.command.writing import Book
from stb_gym.games import GAMES, Game, make_game
from stb_gym.output import Progress, escaped, reader_may_leave

QUESTIONS: tuple[type[Any], ...] = (
    Solve, Certify, Evaluate, Advise, Simulate, AskVariants, Strategies, AskRound, AskTournament, AskMatch, Play, Book,
)  # fmt: skip
OF_ANY_GAME = (AskVariants, Strategies)  # which may be asked without naming one
SPEAK_THEMSELVES = (Play, Book)  # of which nobody need be told that they are still at work


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status: 0, or 2 for bad input, which is explained in one line.

    Args:
        arguments: the words of the command, by default those of the process.
    """
    words = sys.argv[1:] if arguments is None else arguments
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that has no frames for the tiles shows the rest
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that unfinished files are cleared away
    try:
        words = _import_games(words)
        options = _parser().parse_args(words)
        with reader_may_leave():
            _answer(options)
    except (ValueError, OSError) as error:
        print(f"stb-gym: {escaped(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stb-gym: interrupted", file=sys.stderr)
        return 130
    return 0


def _import_games(words: list[str]) -> list[str]:
    """Import the modules of `--import MODULE`, which register games; the words that are left."""
    first = _Parser(add_help=False, allow_abbrev=False)
    first.add_argument("--import", dest="modules", action="append", default=[])
    known, left = first.parse_known_args(words)
    if known.modules:
        sys.path.insert(0, os.getcwd())
    for module in known.modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise ValueError(f"--import {module}: {error}") from error
    return left


def _answer(options: argparse.Namespace) -> None:
    game = _game(options)
    question = question_from(options.question, options, game)
    if options.question in SPEAK_THEMSELVES:
        answer = question.answer(game)
    else:
        with Progress(f"stb-gym: working on {game or 'it'}"):
            answer = question.answer(game)
    if answer is not None:
        print(json.dumps(answer.to_json()) if options.json else answer)


def _game(options: argparse.Namespace) -> Game | None:
    rules = rules_from(options)
    if options.game is None:
        if not rules and not options.variant:
            return None
        if options.question is not AskVariants:
            raise ValueError(f"rules are of a game: say which, {' or '.join(GAMES)}")
        options.game = next(iter(GAMES))
    if options.variant is not None:
        rules = {**rules_of_variant(options.game, options.variant), **rules}
    return make_game(GAMES[options.game], rules)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"stb-gym: {escaped(message)}\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="stb-gym", description="Exact answers about Shut the Box, Threes and games of your own.")
    parser.add_argument("--import", metavar="MODULE", help="import a module that registers a game, before all else")
    commands: Any = parser.add_subparsers(required=True, metavar="COMMAND")
    rules = argparse.ArgumentParser(add_help=False)
    rules.set_defaults(variant=None)
    add_rules(rules)
    for question in QUESTIONS:
        words = question.__doc__
        added = commands.add_parser(question.name, help=words, description=words, parents=[rules])
        added.set_defaults(question=question)
        nargs = "?" if question in OF_ANY_GAME else None
        added.add_argument("game", nargs=nargs, choices=list(GAMES), metavar="GAME", help=" or ".join(GAMES))
        add_flags(added, question)
        if question is Play:
            added.set_defaults(json=False)
        else:
            added.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser
