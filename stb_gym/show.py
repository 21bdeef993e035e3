"""Results of the command as tables for people, and a word to people who wait."""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

Result = dict[str, Any]


def solve(result: Result) -> str:
    """What `stb-gym solve` found."""
    rows = [
        ("best play" if result["play"] == "best" else "worst play", _value(result, result["value"])),
        *([("exactly", result["fraction"])] if "fraction" in result else []),
        *([("chance to shut", f"{result['shut_probability']:.6%}")] if "shut_probability" in result else []),
        ("states", f"{result['states']:,}"),
        *([("nodes with a move", f"{result['decision_nodes']:,}")] if "decision_nodes" in result else []),
        *([("values saved in", result["out"])] if "out" in result else []),
        ("seconds", f"{result['seconds']:.4f}, the making of the arrays included"),
    ]
    first_rolls = [(roll, _value(result, value)) for roll, value in result["by_first_roll"].items()]
    return f"{_title(result)}\n\n{table(rows)}\n\n{table([('first roll', 'value'), *first_rolls])}"


def certify(result: Result) -> str:
    """What is certain of a solution."""
    rows = [
        ("perfect play", _value(result, result["value"])),
        ("exactly", result["fraction"]),
        ("Bellman equation", f"holds at all {result['states']:,} states and {result['nodes']:,} nodes"),
        ("largest error of floats", f"{result['largest_error']:.2g}"),
        ("as a share of the value", f"{result['largest_relative_error']:.2g}"),
        ("optimal actions of floats", "the same" if result["optimal_actions_agree"] else "NOT the same"),
        ("SHA-256 of all values", result["sha256"]),
        *([("values saved in", result["out"])] if "out" in result else []),
    ]
    return f"{_title(result)}\n\n{table(rows)}"


def evaluate(result: Result) -> str:
    """What `stb-gym evaluate` found."""
    rows = [
        ("value", _value(result, result["value"])),
        ("optimum", _value(result, result["optimum"])),
        ("regret", _value(result, result["regret"])),
        ("normalised score", f"{result['normalised_score']:z.4%}"),
        ("agreement", f"{result['agreement']:.4%} of the nodes, {result['agreement_by_visits']:.4%} of the choices"),
        ("chance to shut", f"{result['shut_probability']:.6%}"),
        ("mean throws", f"{result['mean_throws']:.4f}"),
    ]
    if result["illegal_mass"]:
        rows.append(("ended illegally", f"{result['illegal_mass']:.6%}"))
    scores = [(score, f"{chance:.4%}") for score, chance in result["score_distribution"].items()]
    parts = [f"{_title(result)}\npolicy {result['policy']}", table(rows)]
    if result["mistakes"]:
        mistakes = [
            (
                m["node"],
                move_in_words(m["plays"]),
                move_in_words(m["best"]),
                f"{m['visits']:.5f}",
                f"{m['loss']:.5f}",
                f"{m['cost']:.5f}",
            )
            for m in result["mistakes"]
        ]
        parts.append(table([("dearest mistakes", "plays", "best", "visits", "loss", "cost"), *mistakes]))
    return "\n\n".join([*parts, table([("score", "chance"), *scores])])


def advise(result: Result) -> str:
    """The moves at a node, best first."""
    title = f"{_title(result)}\n{result['node']}\n\n"
    if not result["moves"]:
        return f"{title}no legal move: the turn ends, worth {_value(result, result['value'])}"
    rows = [(move_in_words(m), _value(result, m["value"]), _value(result, m["regret"])) for m in result["moves"]]
    return title + table([("move", "value", "regret"), *rows])


def simulate(result: Result) -> str:
    """Sampled games beside the exact value."""
    rows = [
        ("mean", f"{_value(result, result['mean'])} of {result['games']:,} games"),
        ("standard error", _value(result, result["standard_error"])),
        ("exact", _value(result, result["exact"])),
        ("z", "none" if result["z"] is None else f"{result['z']:.3f}"),
    ]
    return f"{_title(result)}\npolicy {result['policy']}\n\n{table(rows)}"


def strategies(result: Result) -> str:
    """The named strategies, for a game with what they are worth."""
    if "game" not in result:
        lists = [table([(game, ""), *known.items()]) for game, known in result["strategies"].items()]
        return "\n\n".join(lists)
    worth = [
        (s["name"], _value(result, s["value"]), _value(result, s["regret"]), f"{s['shut_probability']:.4%}", s["plays"])
        for s in result["strategies"]
    ]
    return f"{_title(result)}\n\n{table([('strategy', 'value', 'regret', 'chance to shut', 'how it plays'), *worth])}"


def round(result: Result) -> str:
    """The seats of a round, and what a lead is worth."""
    columns = [
        ["", *(f"seat {seat}" for seat in range(1, result["players"] + 1))],
        ["plays", *result["strategies"]],
        ["wins", *(f"{wins:.4%}" for wins in result["seats"])],
        ["throws", *(f"{throws:.4f}" for throws in result["throws"])],
    ]
    parts = [_round_title(result)]
    if "exploitability" in result:
        columns.append(["could gain", *(f"{gain:.4%}" for gain in result["best_response_gains"])])
        parts.append(f"exploitability {result['exploitability']:.4%}, the sum of what each seat could gain alone")
    parts.insert(1, table(zip(*columns, strict=True)))
    after = [f"{players} after" for players in range(result["players"])]
    survival = [(lead, *(f"{chance:.2%}" for chance in chances)) for lead, chances in result["survival"].items()]
    return "\n\n".join([*parts, "chance that a lead is not beaten", table([("lead", *after), *survival])])


def tournament(result: Result) -> str:
    """What every player of a tournament wins."""
    ties = result["ties"]
    title = f"{result['title']}\n{result['ends']} {result['limit']}: {result['words']}; ties {ties}"
    wins = [(name, f"{chance:.4%}") for name, chance in zip(result["strategies"], result["wins"], strict=True)]
    length = ("mean rounds", f"{result['mean_rounds']:.4f}")
    return f"{title}\n\n{table([('player', 'wins'), *wins, length])}"


def variants(result: Result) -> str:
    """The variants that have a name, and their perfect play."""
    changes = ", ".join(f"{name} {value}" for name, value in result["changes"].items())
    rows = [
        (v["name"], "", "", "", f"not so: {v['refused']}")
        if "refused" in v
        else (v["name"], f"{v['states']:,}", f"{v['value']:.6f}", _small(v["shut_probability"]), v["plays"])
        for v in result["variants"]
    ]
    shown = table([("variant", "states", "fewest points", "chance to shut", "rules"), *rows])
    return f"all with {changes}\n\n{shown}" if changes else shown


def _small(chance: float) -> str:
    return f"{chance:.6%}" if chance >= 1e-5 else f"{100 * chance:.3g}%"


def match(result: Result) -> str:
    """Win, loss and tie of the first of two players."""
    first, second = result["strategies"]
    rows = [
        (words, *(f"{result[which][how]:.4%}" for how in ("win", "loss", "tie")))
        for which, words in (("round", "one round"), ("match", f"a match of {result['rounds']} rounds"))
    ]
    return f"{_round_title(result)}\n{first} first, against {second}\n\n{table([('', 'win', 'loss', 'tie'), *rows])}"


def tables(result: Result) -> str:
    """Where the tables were written."""
    return f"{len(result['files'])} files in {result['out']}; open {result['out']}/index.html"


def _round_title(result: Result) -> str:
    options = [
        words
        for key, words in (("shut_wins", "a score of 0 wins at once"), ("may_stop", "the last may stop"))
        if result[key]
    ]
    return f"{result['title']}\n" + ", ".join([f"{result['players']} players", f"ties {result['ties']}", *options])


def _title(result: Result) -> str:
    return f"{result['title']}\nobjective {result['objective']}"


def _value(result: Result, value: float) -> str:
    return f"{value:.6f}" if result["unit"] == "points" else f"{value:.6%}"


def move_in_words(move: Result | None) -> str:
    """A move as the rules describe it, in words; None is an illegal one."""
    if move is None:
        return "an illegal action"
    if "keep" in move:
        return f"keep {move['keep']}"
    if not move["tiles"]:
        return "no move"
    dice = {None: "", 1: ", throw 1 die"}.get(move.get("dice"), f", throw {move.get('dice')} dice")
    return f"shut {','.join(map(str, move['tiles']))}{dice}"


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """Rows of text in aligned columns."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def counter(words: str) -> Callable[[int, int], None]:
    """A function to be told how many of how many are done; after two seconds it tells people, once a second."""
    began = last = time.monotonic()

    def tell(done: int, of: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - began > 2 and (now - last > 1 or done == of):
            last = now
            print(f"\r{words}: {done:,} of {of:,}", end="\n" if done == of else "", file=sys.stderr, flush=True)

    return tell


def news() -> Callable[[str], None]:
    """A function to be told what is done; after two seconds it tells people."""
    began = time.monotonic()

    def tell(words: str) -> None:
        if time.monotonic() - began > 2:
            print(words, file=sys.stderr)

    return tell


@contextmanager
def patience(words: str) -> Iterator[None]:
    """Say something on standard error if the block takes longer than two seconds."""
    timer = threading.Timer(2, print, [words], {"file": sys.stderr})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def reader_may_leave() -> Iterator[None]:
    """Let whoever reads standard output stop reading before the block has said everything."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is still to be flushed
