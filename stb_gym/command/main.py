"""The command `stb-gym`: results on standard output, as tables or as JSON; everything else on standard error."""

import argparse
import io
import json
import signal
import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NoReturn

from stb_gym import GAMES, STRATEGIES, answers, box_answers, round_answers, show
from stb_gym.game import ILLEGAL, Game, check_choice, make_game, own_rules
from stb_gym.hand import ONE_DIE
from stb_gym.matching import MATCHES
from stb_gym.show import Result
from stb_gym.shut_the_box import SCORES, ShutTheBox
from stb_gym.standings import TIES
from stb_gym.tournaments import RULES as TOURNAMENTS
from stb_gym.variants import OPEN, VARIANTS

STRATEGY_NAMES = "; ".join(f"{game}: {', '.join(strategies)}" for game, strategies in STRATEGIES.items())
RULE = "rule_"  # begins the names under which the parser keeps the rules
SPEAK_THEMSELVES = (answers.play, answers.tables)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status (0, or 2 for bad input, which is explained in one line)."""
    options = _parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that has no frames for the tiles shows the rest
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that unfinished files are cleared away
    try:
        with show.reader_may_leave():
            _answer(options)
    except (ValueError, OSError) as error:
        print(f"stb-gym: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stb-gym: interrupted", file=sys.stderr)
        return 130
    return 0


def _answer(options: argparse.Namespace) -> None:
    game = _game(options)
    speaks = options.run in SPEAK_THEMSELVES
    with nullcontext() if speaks else show.patience(f"stb-gym: still working on {game or 'it'}"):
        result = options.run(game, options)
    if result is not None:
        print(json.dumps(result) if options.json else options.show(result))


def _game(options: argparse.Namespace) -> Any:
    rules = {name.removeprefix(RULE): value for name, value in vars(options).items() if name.startswith(RULE)}
    given = {name: value for name, value in rules.items() if value is not None}
    if options.game is None and (given or options.variant):
        raise ValueError(f"rules are of a game: say which, {' or '.join(GAMES)}")
    if options.variant is None:
        return None if options.game is None else make_game(GAMES[options.game], given)
    check_choice("variant", options.variant, list(VARIANTS))
    if options.game != ShutTheBox.name:
        raise ValueError(f"variants are of {ShutTheBox.name}, not of {options.game}")
    return make_game(ShutTheBox, {**VARIANTS[options.variant].fields, **given})


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"stb-gym: {message}\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="stb-gym", description="Exact answers about Shut the Box and Threes.")
    commands: Any = parser.add_subparsers(required=True, metavar="COMMAND")
    rules, json_too, objective, who, round_rules = _rules(), _options(), _options(), _who(), _round_rules()
    values = _options()
    values.add_argument("--values", metavar="FILE", help="look values up in a file that stb-gym solve --out saved")
    json_too.add_argument("--json", action="store_true", help="print JSON instead of a table")
    objective.add_argument("--objective", default="score", metavar="score|shut|at-most:T", help="default score")

    def command(run: Callable[..., Result | None], shown: Callable[[Result], str] | None, *parents: Any) -> Any:
        words = run.__doc__
        added = commands.add_parser(run.__name__, help=words, description=words, parents=[rules, *parents])
        added.set_defaults(run=run, show=shown)
        game = {"choices": list(GAMES), "metavar": "GAME", "help": " or ".join(GAMES), "default": None}
        if run is box_answers.variants:
            added.set_defaults(game=ShutTheBox.name)
        else:
            added.add_argument("game", **game, nargs="?" if run is answers.strategies else None)
        return added

    solving = command(answers.solve, show.solve, objective, json_too)
    solving.add_argument("--worst", action="store_true", help="the worst play instead of the best")
    solving.add_argument("--exact", action="store_true", help="compute in fractions")
    solving.add_argument("--out", metavar="FILE", help="save the value of every board (Shut the Box, throws as sums)")
    certifying = command(answers.certify, show.certify, objective, json_too)
    certifying.add_argument("--out", metavar="FILE", help="save the values of all states in fractions")
    evaluating = command(answers.evaluate, show.evaluate, who, objective, json_too)
    how = "illegal actions of a policy: raise refuses it (default), end ends the turn with the worst score"
    evaluating.add_argument("--illegal", default="raise", metavar="|".join(ILLEGAL), help=how)
    advising = command(answers.advise, show.advise, objective, values, json_too)
    advising.add_argument("--open", type=_numbers, metavar="1,4,5,8", help="open tiles (Shut the Box; default all)")
    advising.add_argument("--dice-in-hand", type=int, metavar="K", help="how many dice were thrown (Shut the Box)")
    advising.add_argument("--roll", type=_numbers, metavar="N", help="sum of the dice, or 3,4 (Shut the Box)")
    advising.add_argument("--points", type=int, metavar="N", help="points so far (Threes; default 0)")
    advising.add_argument("--dice-shown", type=_numbers, metavar="3,1,6", help="the dice as thrown (Threes)")
    simulating = command(answers.simulate, show.simulate, who, objective, json_too)
    simulating.add_argument("--games", type=int, default=100_000, metavar="N", help="default 100000")
    simulating.add_argument("--seed", type=int, metavar="S", help="same seed, same games")
    command(box_answers.variants, show.variants, json_too)
    command(answers.strategies, show.strategies, objective, json_too)
    line_up = {
        "type": _names,
        "metavar": "A,B",
        "help": f"one for each seat; {STRATEGY_NAMES}; or files of saved policies (.npz)",
    }
    rounds = command(round_answers.round, show.round, round_rules, json_too)
    rounds.add_argument("--players", type=int, metavar="N", help="default 2, or as many as there are strategies")
    rounds.add_argument("--strategies", **line_up)
    tournaments = command(round_answers.tournament, show.tournament, json_too)
    tournaments.add_argument("--strategies", required=True, **line_up)
    ends = "; ".join(f"{name}: {words}" for name, words in TOURNAMENTS.items())
    tournaments.add_argument("--ends", default="first-to", metavar="|".join(TOURNAMENTS), help=ends)
    tournaments.add_argument("--limit", type=int, metavar="N", help="default 100, or 45 for out-at")
    tournaments.add_argument("--ties", default="split", metavar="|".join(TIES), help="who wins a tie (default split)")
    matching = command(round_answers.match, show.match, round_rules, json_too)
    matching.add_argument("--strategies", required=True, **line_up)
    matching.add_argument("--rounds", type=int, default=20, metavar="N", help="default 20")
    playing = command(answers.play, None, round_rules, objective, values)
    playing.add_argument("--coach", action="store_true", help="say after every choice what it cost")
    against = "play a round against a strategy, or a saved policy; once for every opponent"
    playing.add_argument("--against", action="append", default=[], metavar="STRATEGY", help=against)
    playing.add_argument("--seat", type=int, default=1, metavar="N", help="your place in the round (default 1)")
    playing.add_argument("--seed", type=int, metavar="S", help="same seed, same dice")
    writing = command(answers.tables, show.tables, json_too)
    writing.add_argument("--out", required=True, metavar="DIR", help="a new or empty folder")
    writing.add_argument("--force", action="store_true", help="replace the book in a folder that is not empty")
    return parser


def _options() -> argparse.ArgumentParser:
    return argparse.ArgumentParser(add_help=False)


def _rules() -> argparse.ArgumentParser:
    options = _options()
    rules = options.add_argument_group("rules")

    def rule(name: str, words: str, option: str | None = None, **how: Any) -> None:
        option = option or f"--{name.replace('_', '-')}"
        rules.add_argument(option, dest=f"{RULE}{name}", default=None, help=words, **how)

    rules.add_argument("--variant", metavar="NAME", help="a variant that has a name: see stb-gym variants")
    rule("dice", "number of dice, 1 to 7 (default 2, Threes 5)", metavar="K", type=int)
    rule("faces", "faces of every die, 2 to 20 (default 6)", metavar="F", type=int)
    rule("tiles", "number of tiles, 1 to 24 (default 9)", metavar="N", type=int)
    rule("score", "what counts of the open tiles (default sum)", metavar="|".join(SCORES))
    opens = "|".join([*OPEN, "1,3,7"])
    rule("open", "the tiles that are open at the start (default all)", "--start-open", metavar=opens)
    when = "; ".join(f"{name}: {words}" for name, words in ONE_DIE.items() if name != "never")
    one_die = f"when one die may be thrown instead of all after the first throw (default never). {when}"
    rule("one_die", one_die, metavar="|".join(ONE_DIE))
    rule("one_die_forced", "when one die may be thrown, it must be", action="store_true")
    ways = "; ".join(f"{name}: {way.__doc__}".rstrip(".") for name, way in MATCHES.items())
    rule("match", f"which open tiles a roll may shut (default sum). {ways}", metavar="|".join(MATCHES))
    rule("first_move", "a tile that the first move must shut", metavar="TILE", type=int)
    rule("ending_roll", "a roll that ends the turn", metavar="N", type=int)
    rule("free_face", "the face that counts nothing (Threes; default 3)", metavar="F", type=int)
    rule("moon", "a first throw of the highest face alone wins (Threes)", action="store_true")
    return options


def rule_words(game: Game) -> list[str]:
    """The options that say the rules of a game."""
    words = []
    for name, value in own_rules(game).items():
        words.append("--start-open" if name == "open" else f"--{name.replace('_', '-')}")
        if value is not True:
            words.append(",".join(map(str, value)) if isinstance(value, tuple) else str(value))
    return words


def _who() -> argparse.ArgumentParser:
    options = _options()
    policy = options.add_mutually_exclusive_group(required=True)
    policy.add_argument("--strategy", metavar="NAME", help=STRATEGY_NAMES)
    policy.add_argument("--policy", metavar="FILE", help="a policy saved by stb_gym.save_policy")
    return options


def _round_rules() -> argparse.ArgumentParser:
    options = _options()
    rules = options.add_argument_group("rules of the round")
    rules.add_argument("--ties", default="all-win", metavar="|".join(TIES), help="who wins a tie (default all-win)")
    rules.add_argument("--shut-wins", action="store_true", help="a final score of 0 wins at once")
    rules.add_argument("--may-stop", action="store_true", help="the last player stops once ahead (Shut the Box)")
    return options


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")] if text else []


def _names(text: str) -> list[str]:
    return text.split(",")


_numbers.__name__ = "list of numbers"  # argparse names the type in its message
