"""Results of the command as tables for people."""

from collections.abc import Iterable
from typing import Any

Result = dict[str, Any]


def solve(result: Result) -> str:
    """What `stb-gym solve` found."""
    rows = [
        ("best play" if result["play"] == "best" else "worst play", _value(result, result["value"])),
        *([("exactly", result["fraction"])] if "fraction" in result else []),
        ("chance to shut", f"{result['shut_probability']:.6%}"),
        ("states", f"{result['states']:,}"),
        ("nodes with a move", f"{result['decision_nodes']:,}"),
        ("seconds", f"{result['seconds']:.4f}, the making of the arrays included"),
    ]
    first_rolls = [(roll, _value(result, value)) for roll, value in result["by_first_roll"].items()]
    return f"{_title(result)}\n\n{table(rows)}\n\n{table([('first roll', 'value'), *first_rolls])}"


def evaluate(result: Result) -> str:
    """What `stb-gym evaluate` found."""
    rows = [
        ("value", _value(result, result["value"])),
        ("optimum", _value(result, result["optimum"])),
        ("regret", _value(result, result["regret"])),
        ("gap closed", f"{result['gap_closed']:z.4%}"),
        ("agreement", f"{result['agreement']:.4%} of the nodes, {result['agreement_by_visits']:.4%} of the choices"),
        ("chance to shut", f"{result['shut_probability']:.6%}"),
        ("mean throws", f"{result['mean_throws']:.4f}"),
    ]
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


def _title(result: Result) -> str:
    rules = ", ".join(f"{name} {value}" for name, value in result["rules"].items())
    return f"{result['game']}: {rules}\nobjective {result['objective']}"


def _value(result: Result, value: float) -> str:
    return f"{value:.6f}" if result["unit"] == "points" else f"{value:.6%}"


def move_in_words(move: Result) -> str:
    """A move as the rules describe it, in words."""
    if "keep" in move:
        return f"keep {move['keep']}"
    return f"shut {','.join(map(str, move['tiles']))}" if move["tiles"] else "no move"


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """Rows of text in aligned columns."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
