"""The table and the picture of docs/exact8.md, from the policies of all entries, which are graded again."""

from pathlib import Path

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from matplotlib.figure import Figure

from agents.baselines import greedy_step
from docs.pictures import draw
from docs.written import markdown
from stb_gym.solving import solve
from training.report import rounded
from training.suite.entries import grade_edition
from training.suite.environment import TRACKS
from training.suite.score import log_scores, number
from training.suite.tasks import BUDGETS, EDITIONS, KINDS, SEEDS, tasks_of

ENTRIES = Path(__file__).parent / "results" / "exact8"
SMALL, LARGE = BUDGETS
Grades = dict[tuple[str, str], pd.DataFrame]


def read_grades() -> Grades:
    """Return the grades of the latest edition by track and agent, best first in each track, with the greedy step."""
    edition = [*EDITIONS][-1]
    graded = grade_edition(ENTRIES, edition)
    rows = []
    for kind, task in tasks_of(edition).items():
        found = solve(task.game, task.objective).evaluate(greedy_step(task.game, task.objective))
        rows.append((SMALL, kind, 0, found.regret, 1 - found.normalised_score))
    graded["rules", "greedy-step"] = pd.DataFrame(rows, columns=["budget", "kind", "seed", "regret", "score"])
    graded = {key: rows for key, rows in graded.items() if (rows["budget"] == SMALL).any()}
    means = {key: number(rows[rows["budget"] == SMALL]).mean for key, rows in graded.items()}
    order = sorted(graded, key=lambda key: ([*TRACKS].index(key[0]), means[key]))
    return {key: graded[key] for key in order}


def table(graded: Grades) -> str:
    """Return the numbers of agents, their intervals and their worst tasks as Markdown."""
    rows = []
    for (track, agent), grades in graded.items():
        cells = []
        for budget in BUDGETS:
            of_budget = grades[grades["budget"] == budget]
            if of_budget.empty:
                cells += ["", ""]
                continue
            found = number(of_budget)
            seeds = of_budget["seed"].nunique()
            between = f"<br><small>{found.low:.2f} to {found.high:.2f}</small>" if seeds > 1 else ""
            few = f"<br><small>{seeds} seeds</small>" if 1 < seeds < SEEDS else ""
            cells += [f"{found.mean:.2f}{between}{few}", f"{found.worst_mean:.2f}<br><small>{found.worst}</small>"]
        rows.append([track, f"`{agent}`", *cells])
    return markdown(["track", "agent", "0.2M steps", "worst task", "1M steps", "worst task"], rows, left=2)


def draw_scores(path: Path, graded: Grades) -> None:
    """Draw the scores of agents with the small budget as a coloured table: 10 to the power of the mean of log10."""
    small = {key: rows[rows["budget"] == SMALL] for key, rows in graded.items()}
    means = np.array([log_scores(rows).groupby("kind").mean()[[*KINDS]] for rows in small.values()])

    def fill(figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.imshow(means, cmap="RdYlGn_r", vmin=-4, vmax=0, alpha=0.4, aspect="auto")
        for (row, column), mean in np.ndenumerate(means):
            axes.text(column, row, f"{rounded(100 * 10**mean)}%", ha="center", va="center", fontsize=8)
        axes.set_xticks(range(len(KINDS)), [kind.replace("-", "\n") for kind in KINDS], fontsize=8)
        axes.set_yticks(range(len(small)), [f"{agent} ({track})" for track, agent in small], fontsize=8)
        axes.xaxis.tick_top()

    draw(path, (9, 0.6 + 0.42 * len(small)), fill)
