"""The leaderboard: saved policies, measured exactly by the objective that each file names, and the page of the kept.

No game is played, so a place on it is no matter of luck: whoever judges the same file gets the same numbers.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from stb_gym.games import Game, entry_of, title
from stb_gym.measure.cards import LARGEST_ENTRY, Card, read_cards
from stb_gym.measure.policy_files import KEPT, read_policy
from stb_gym.output import Column, Table
from stb_gym.solver import Evaluation, Goal, evaluate_against, solve, strategy

ABOUT = """\
# Leaderboard

Saved policies, measured exactly: no game is played, so a place here is no matter of luck. Regret is what a policy loses
in a turn against perfect play, in points, or in chance where the objective is one. Choices are weighted by how often a
turn meets them. Perfect play and the best rule of thumb are in italics. `stb-gym judge` prints these numbers, and
`stb-gym judge FILE` judges a policy of your own. The commands below the tables are those that made the policies; later
versions of the same programs may come to others.
"""
ENTER = f"""\
## Enter your own

A policy is a file of at most {LARGEST_ENTRY:,} bytes, with its card beside it. At the root of a clone of the
repository, make both:

```python
import stb_gym
from stb_gym.measure import write_card

game = stb_gym.ShutTheBox()
meter = stb_gym.RegretMeter(game)  # or of the environment that your agent sees, with all its wrappers
policy = meter.policy(lambda observations, masks: masks.argmax(axis=1))  # your agent stands here
stb_gym.save_policy("stb_gym/measure/policies/my-agent.npz", game, policy, objective="score")
write_card(
    "stb_gym/measure/policies/my-agent.npz",
    who="your name",
    how="the algorithm in a few words",
    command="what makes it again, or where the program is",
    settings="those of the algorithm",
    steps=1_000_000,  # in all environments together
    seeds=5,  # how many you trained, of which this is the best
    licence="MIT",
)
```

An agent without masks may be saved with `illegal="end"`: then its illegal actions end the turn with the worst score.
Then make this page again, and open one pull request with the three files:

```sh
python -m stb_gym judge --out docs/leaderboard.md
```

A test refuses a page that is not what the files say, a card that lacks an entry or is of other bytes, and a policy that
is too large.
"""


class Judgement(NamedTuple):
    """A saved policy and its exact measure.

    Attributes:
        name: of the policy: its file, or what a kept one is called.
        evaluation: by the objective that it was judged by.
    """

    name: str
    evaluation: Evaluation

    @property
    def game(self) -> Game:
        """The rules of the policy."""
        return self.evaluation.tables.game

    @property
    def objective(self) -> str:
        """What it was judged by."""
        return self.evaluation.optimum.objective.name


def judge(path: str | Path, objective: Goal | None = None) -> Judgement:
    """Measure a saved policy exactly; its file says of which game it is.

    Args:
        path: the file, or the name of a policy that comes with the package; see `kept_policies`.
        objective: what to judge it by; by default what its file says.

    Raises:
        ValueError: as `read_policy` and `solve` do.

    Example:
        >>> import stb_gym
        >>> judged = stb_gym.judge("ppo-nine-tiles")
        >>> judged.objective, round(judged.evaluation.regret, 6)
        ('score', 0.00018)
        >>> judged.evaluation.dearest_mistake
        'open 1,4,5,8, roll 9: shut 1,8 instead of shut 4,5 loses 0.139, once in 2,223 turns'
    """
    saved = read_policy(path)
    best = solve(saved.game, saved.objective if objective is None else objective)
    return Judgement(str(path), best.evaluate(saved.policy, saved.illegal))


def leaderboard(folder: Path = KEPT) -> str:
    """The page of the kept policies: a table for all rules and objectives that they are of, the least regret first.

    Args:
        folder: where the policies and their cards lie.

    Raises:
        ValueError: as `read_cards` and `judge` do.
    """
    cards = read_cards(folder)
    judged = sorted((judge(folder / f"{name}.npz")._replace(name=name) for name in cards), key=_board)
    sections = [_section(list(group), cards) for _, group in groupby(judged, key=_board)]
    return "\n".join([ABOUT, *sections, ENTER])


def _board(judged: Judgement) -> tuple[str, int, str, str]:
    """What policies on one board have in common, small games first."""
    return judged.game.name, judged.evaluation.tables.nodes, title(judged.game), judged.objective


def _section(judged: list[Judgement], cards: Mapping[str, Card]) -> str:
    """The table of one board, and how each of its policies was made."""
    optimum = judged[0].evaluation.optimum
    rows = sorted([*judged, *_yardsticks(judged[0])], key=lambda row: row.evaluation.regret)
    made = "\n".join(_how_made(row.name, cards[row.name]) for row in rows if row.name in cards)
    head = f"## {title(judged[0].game)}; objective {optimum.objective.name}\n\nIn {optimum.objective.unit}:"
    return f"{head}\n\n{_table(rows, cards).to_markdown()}\n\n{made}\n"


def _yardsticks(judged: Judgement) -> Iterable[Judgement]:
    """Perfect play, and the rule of thumb with the least regret."""
    best = judged.evaluation.optimum
    thumbs = [
        Judgement(f"*{name}*", evaluate_against(best, strategy(judged.game, name)))
        for name in entry_of(judged.game).rules_of_thumb
    ]
    yield Judgement("*perfect play*", evaluate_against(best, best.policy))
    yield from sorted(thumbs, key=lambda row: row.evaluation.regret)[:1]


def _table(rows: list[Judgement], cards: Mapping[str, Card]) -> Table:
    found, known = [row.evaluation for row in rows], [cards.get(row.name) for row in rows]
    return Table(
        {
            "policy": Column("", [row.name for row in rows]),
            "how": Column("", [card and card.how for card in known]),
            "who": Column("", [card and card.who for card in known]),
            "steps": Column(",d", [card and card.steps for card in known]),
            "licence": Column("", [card and card.licence for card in known]),
            "value": Column(".6f", [each.value for each in found]),
            "regret": Column(".3g", [each.regret for each in found]),
            "choices optimal": Column(".4%", [each.agreement_by_visits for each in found]),
            "dearest mistake": Column("", [each.dearest_mistake for each in found]),
        },
    )


def _how_made(name: str, card: Card) -> str:
    seeds = f"the best of {card.seeds} seeds" if card.seeds > 1 else "one seed"
    return f"- {name}: `{card.command}`, {seeds}; {card.settings}"
