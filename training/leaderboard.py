"""The leaderboard: the kept policies and their cards, measured exactly: `python -m training.leaderboard`.

No game is played, so the same files give the same numbers.
"""

import hashlib
import json
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from stb_gym.games import check_integer, entry_of, title
from stb_gym.measure.policy_files import KEPT, read_policy
from stb_gym.output import check_file, read_text, write_text
from stb_gym.solver import Evaluation
from stb_gym.solving import strategy

LARGEST_ENTRY = 100_000  # bytes of a policy on the leaderboard
ABOUT = """\
# Leaderboard

Saved policies, measured exactly. No game is played, so luck has no influence. Regret is what a policy loses per turn
against perfect play, in points, or in probability where the objective is one. Each choice counts by how often a turn
meets it. Perfect play and the best heuristic are in italics. The commands below the tables made the policies; later
versions of the same programs may give others.
"""
ENTER = f"""\
## Enter your own

An entry is a policy file of at most {LARGEST_ENTRY:,} bytes and a card. Make both at the root of a clone of the
repository:

```python
import stb_gym
from training.leaderboard import write_card

game = stb_gym.ShutTheBox()
meter = stb_gym.RegretMeter(game)  # or of your agent's environment, with all its wrappers
policy = meter.policy(lambda observations, masks: masks.argmax(axis=1))  # put your agent here
stb_gym.save_policy("stb_gym/measure/policies/my-agent.npz", game, policy, objective="score")
write_card(
    "stb_gym/measure/policies/my-agent.npz",
    who="your name",
    how="the algorithm in a few words",
    command="the command that trains it, or where the program is",
    settings="the settings of the algorithm",
    steps=1_000_000,  # in all environments together
    seeds=5,  # how many you trained; this policy is the best of them
    licence="MIT",
)
```

If your agent takes illegal actions, save it with `illegal="end"`: they end the turn with the worst score. Then write
this page again, and open a pull request with the three files:

```sh
python -m training.leaderboard > docs/leaderboard.md
```

A test checks that the page matches the files, that each card is complete and matches its policy, and that no policy is
too large.
"""


@dataclass(frozen=True)
class Card:
    """The metadata of a kept policy.

    Attributes:
        who: the authors.
        how: the algorithm, in a few words.
        command: the command that trains it, or where the program is.
        settings: of the algorithm.
        steps: in all environments together, for this policy.
        seeds: how many were trained; the policy is the best of them.
        licence: of the policy, as an SPDX identifier.
        sha256: of the policy's file.

    Raises:
        ValueError: if a text is empty or longer than a line, or a number is not a positive integer.
    """

    who: str
    how: str
    command: str
    settings: str
    steps: int
    seeds: int
    licence: str
    sha256: str

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if name in ("steps", "seeds"):
                check_integer(name, value, 1, 10**15)
            elif not isinstance(value, str) or not value.strip() or not value.isprintable():
                raise ValueError(f"{name} must be a line of text, not {value!r}")


def write_card(policy: str | Path, **entries: Any) -> None:
    """Write the card of a policy file beside it, as a TOML file.

    Args:
        policy: the file.
        **entries: all entries of a `Card` but `sha256`, which is computed here.

    Raises:
        ValueError: as `Card` does.
    """
    policy = Path(policy)
    card = asdict(Card(**entries, sha256=_sha256(policy)))
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in card.items()]
    write_text(policy.with_suffix(".toml"), "".join(lines))


def read_cards(folder: Path = KEPT) -> dict[str, Card]:
    """Return the cards of all kept policies by name.

    Args:
        folder: where the policies and their cards are.

    Raises:
        ValueError: if a policy has no card or a card no policy, a card has other entries than a `Card` or is for
            another file, or a policy is larger than LARGEST_ENTRY.
    """
    names = sorted(path.stem for path in folder.glob("*.npz"))
    if alone := sorted({path.stem for path in folder.glob("*.toml")} - {*names}):
        raise ValueError(f"there is a card but no policy {alone[0]} in {folder}")
    cards = {}
    for name in names:
        policy = folder / f"{name}.npz"
        path = folder / f"{name}.toml"
        if policy.stat().st_size > LARGEST_ENTRY:
            raise ValueError(f"{policy} has {policy.stat().st_size:,} bytes; at most {LARGEST_ENTRY:,} are allowed")
        try:
            cards[name] = Card(**tomllib.loads(read_text(path)))
        except FileNotFoundError:
            raise ValueError(f"{policy} has no card {path}") from None
        except (TypeError, ValueError) as error:
            raise ValueError(f"the card {path}: {error}") from None
        if cards[name].sha256 != _sha256(policy):
            raise ValueError(f"the card {path} is for another file: the SHA-256 of {policy} is {_sha256(policy)}")
    return cards


def _sha256(path: Path) -> str:
    check_file(path)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def leaderboard(folder: Path = KEPT) -> str:
    """Return the page of the kept policies: a table for each game and objective, the least regret first.

    Args:
        folder: where the policies and their cards are.

    Raises:
        ValueError: as `read_cards` and `read_policy` do.
    """
    cards = read_cards(folder)
    boards: dict[tuple[str, int, str, str], dict[str, Evaluation]] = {}
    for name in cards:
        evaluation = read_policy(folder / f"{name}.npz").evaluate()
        game = evaluation.tables.game
        board = (game.name, evaluation.tables.nodes, title(game), evaluation.optimum.objective.name)
        boards.setdefault(board, {})[name] = evaluation
    sections = [_section(boards[board], cards) for board in sorted(boards)]
    return "\n".join([ABOUT, *sections, ENTER])


def _section(evaluations: dict[str, Evaluation], cards: dict[str, Card]) -> str:
    """Return the table of one game and objective, and how each of its policies was made."""
    best = next(iter(evaluations.values())).optimum
    game = best.game
    heuristics = {f"*{name}*": best.evaluate(strategy(game, name)) for name in entry_of(game).heuristics}
    rows = [*evaluations.items(), ("*perfect play*", best.evaluate(best.policy))]
    rows += sorted(heuristics.items(), key=lambda row: row[1].regret)[:1]
    table = [
        "| policy | how | who | steps | licence | value | regret | choices optimal | costliest mistake |",
        "| --- | --- | --- | ---: | --- | ---: | ---: | ---: | --- |",
    ]
    made = []
    for name, evaluation in sorted(rows, key=lambda row: row[1].regret):
        about = " |  |  | "
        if card := cards.get(name):
            about = f"{card.how} | {card.who} | {card.steps:,} | {card.licence}"
            seeds = f"the best of {card.seeds} seeds" if card.seeds > 1 else "one seed"
            made.append(f"- {name}: `{card.command}`, {seeds}; {card.settings}")
        table.append(
            f"| {name} | {about} | {evaluation.value:.6f} | {evaluation.regret:.3g} | "
            f"{evaluation.agreement_by_visits:.4%} | {evaluation.costliest_mistake} |"
        )
    lines = [
        f"## {title(game)}; objective {best.objective.name}",
        "",
        f"In {best.objective.unit}:",
        "",
        *table,
        "",
        *made,
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(leaderboard(), end="")
