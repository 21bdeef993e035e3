"""The command `stb-gym`: answers on standard output, as tables or as JSON; everything else on standard error."""

import argparse
import io
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

from stb_gym import __version__
from stb_gym.cli.advising import Advise
from stb_gym.cli.branching import ShowTree
from stb_gym.cli.completion import SHELLS, completion
from stb_gym.cli.evaluating import Evaluate, Simulate
from stb_gym.cli.exploring import Explore
from stb_gym.cli.flags import Help, Parser, add_flags, add_rules, question_from, rules_from, rules_of_variant
from stb_gym.cli.judging import Judge
from stb_gym.cli.laboratory import COMMANDS, run_laboratory
from stb_gym.cli.listing import ListStates, ListStrategies, ListVariants
from stb_gym.cli.matches import EvaluateMatch, EvaluateTournament
from stb_gym.cli.measuring import Measure, imported
from stb_gym.cli.playing import Play
from stb_gym.cli.questions import Question
from stb_gym.cli.rounds import EvaluateRound, FindPar
from stb_gym.cli.solving import Certify, Solve
from stb_gym.cli.thumbs import Compare, FindCard
from stb_gym.cli.watching import Watch
from stb_gym.games import GAMES, Game, make_game
from stb_gym.output import Progress, reader_may_leave, refuse, say

QUESTIONS: tuple[type[Question], ...] = (
    Solve, Certify, Evaluate, Measure, Compare, FindCard, Judge, Advise, ShowTree, Simulate, ListVariants,
    ListStrategies, ListStates, EvaluateRound, FindPar, EvaluateTournament, EvaluateMatch, Play, Watch, Explore,
)  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status: 0, 2 for bad input, which is explained in one line, or 130 for Ctrl-C.

    Args:
        arguments: the words of the command, by default those of the process.

    Raises:
        SystemExit: after --help (status 0), or if the process is asked to end (status 143).
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="stb_gym.plainly")  # for a terminal that has no frames for the tiles
    try:
        with reader_may_leave(), _ending_cleanly():
            return _run(import_games(sys.argv[1:] if arguments is None else arguments))
    except (ValueError, OSError, ImportError, MemoryError) as error:
        return refuse("stb-gym", error)
    except KeyboardInterrupt:
        say("stb-gym: interrupted", error=True)
        return 130


@contextmanager
def _ending_cleanly() -> Iterator[None]:
    """Let a process that is asked to end clear unfinished files away."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def import_games(words: list[str]) -> list[str]:
    """Import the modules of `--import MODULE`, which register games; the words that are left.

    Raises:
        ValueError: if a module cannot be imported, saying why.
    """
    first = Parser(add_help=False, allow_abbrev=False)
    first.add_argument("--import", dest="modules", action="append", default=[])
    known, left = first.parse_known_args(words)
    for module in known.modules:
        imported(module, f"--import {module}")
    return left


def _run(words: list[str]) -> int:
    if words and words[0] in COMMANDS:
        return run_laboratory(words[0], words[1:])
    parser = command_parser(words)
    options, unknown = parser.parse_known_args(words)
    if unknown:
        options.parser.refuse(unknown[0])
    if options.completion is not None:
        say(completion(command_parser(), options.completion))
    elif options.question is None:
        parser.print_help()
    else:
        _answer(*asked(options), in_json=options.json)
    return 0


def _answer(question: Question, game: Game | None, in_json: bool) -> None:
    if question.interactive:
        question.answer(game)
        return
    with Progress(f"stb-gym {question.name}") as progress:
        answer = question.answer(game, progress.tell)
    say(json.dumps(answer.to_json()) if in_json else answer)


def asked(options: argparse.Namespace) -> tuple[Question, Game | None]:
    """The question that the options of a command ask, and the game that it is about."""
    game = _game(options)
    return question_from(options.question, options, game), game


def _game(options: argparse.Namespace) -> Game | None:
    if options.game is None:
        if options.variant is not None or rules_from(options, None):
            raise ValueError(f"rules are of a game: say which, {' or '.join(GAMES)}")
        return None
    rules = rules_from(options, GAMES[options.game])
    if options.variant is not None:
        rules = {**rules_of_variant(options.game, options.variant), **rules}
    return make_game(GAMES[options.game], rules)


def command_parser(words: list[str] | None = None) -> argparse.ArgumentParser:
    """The parser of the command, of which its completion and the pages about it are made, too.

    Args:
        words: if given, only commands that are among them get their arguments, as those of all take a while to make.
    """
    parser = Parser(
        prog="stb-gym",
        usage="stb-gym [--import MODULE] COMMAND ...",
        description="Exact answers about Shut the Box, Threes and games of your own.",
        epilog=_examples("solve shut-the-box", "play threes --coach"),
        formatter_class=Help,
    )
    parser.add_argument("--import", metavar="MODULE", help="import a module that registers a game, before all else")
    parser.add_argument("--version", action="version", version=f"stb-gym {__version__}")
    parser.add_argument(
        "--completion",
        choices=SHELLS,
        metavar="SHELL",
        help=f"print a script by which {' or '.join(SHELLS)} completes the command",
    )
    parser.set_defaults(question=None, parser=parser)
    commands: Any = parser.add_subparsers(metavar="COMMAND", prog="stb-gym")
    for question in QUESTIONS:
        added = _add_command(commands, question)
        if words is None or question.name in words:
            _add_arguments(added, question)
    for name, about in COMMANDS.items():
        commands.add_parser(name, help=f"{about} (laboratory).", add_help=False)
    return parser


def _examples(*examples: str) -> str:
    return "\n".join(["examples:", *(f"  stb-gym {words}" for words in examples)])


def _add_command(commands: Any, question: type[Question]) -> argparse.ArgumentParser:
    words = (question.__doc__ or "").partition("\n")[0]
    usage = f"stb-gym {question.name} {_arguments(question)}"
    examples = _examples(*(f"{question.name} {words}".rstrip() for words in question.examples))
    added: argparse.ArgumentParser = commands.add_parser(
        question.name,
        usage=usage,
        help=words,
        description=words,
        epilog=examples,
        formatter_class=Help,
        allow_abbrev=False,
    )
    added.set_defaults(question=question, parser=added, game=None, variant=None, json=False)
    return added


def _add_arguments(parser: argparse.ArgumentParser, question: type[Question]) -> None:
    try:
        if question.of_a_game:
            _add_game(parser, question)
        add_flags(parser, question)
        if not question.interactive:
            parser.add_argument("--json", action="store_true", help="print JSON (docs/json.md) instead of a table")
        if question.of_a_game:
            add_rules(parser)
    except argparse.ArgumentError as error:
        raise ValueError(f"a rule of a game needs another flag (see stb_gym.rule): {error}") from error


def _arguments(question: type[Question]) -> str:
    """What follows the name of a command."""
    bare = [f"[{known.sample} ...]" for each in fields(question) if (known := each.metadata["flag"]).bare]
    if not question.of_a_game:
        return " ".join([*bare, "[options]"])
    return " ".join(["GAME" if question.needs_game else "[GAME]", *bare, "[options] [rules]"])


def _add_game(parser: argparse.ArgumentParser, question: type[Question]) -> None:
    nargs, usual = None if question.needs_game else "?", question.usual_game()
    parser.add_argument(
        "game", nargs=nargs, default=usual, choices=list(GAMES), metavar="GAME", help=" or ".join(GAMES)
    )
