"""Write tables and pictures of the results in docs/results: `python -m docs.results`.

The tables go into the pages of PAGES. `docs/conf.py` writes the page of curves.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import gymnasium as gym
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats

from agents.registry import LEARNERS
from docs import exact8, hardness_page
from docs.cells import HEADINGS, cell, few_seeds, frame_table
from docs.pictures import draw, draw_curves, tick
from docs.written import markdown
from stb_gym import hardness, solve
from stb_gym.files import write_text
from training.compare import baselines, compare_agents
from training.experiments import departures, estimators, language_model, planning, task_difficulty, text_rewards
from training.report import curves_of, rounded, write_page
from training.results import (
    TrainingTask,
    by_agent,
    by_task,
    curve_over_seeds,
    read_measurements,
    read_numbers,
)

DOCS = Path(__file__).parent
RESULTS = DOCS / "results" / "curves.csv.gz"
PAGES = [
    DOCS.parent / "README.md",
    *(
        DOCS / f"{name}.md"
        for name in (
            "agents",
            "exact8",
            "hardness",
            "language_models",
            "estimators",
            "is_your_learner_right",
            "planning",
        )
    ),
]
TASK = "nine-tiles"
DRAWN = (  # learners in the picture of the README
    "afterstates", "certainty-equivalence", "fitted-q", "ppo", "dqn",
    "sb3-maskable-ppo-tuned", "sb3-maskable-ppo", "sb3-ppo", "sb3-dqn",
)  # fmt: skip
BUDGET = 1_000_000
REACHED = (0.1, 0.03)  # regrets
PEER = "sb3-maskable-ppo-tuned"
BASELINES = ("random", "fewest-then-biggest", "greedy-step")
BASELINE_TITLES = {  # names in the README, as the titles of learners
    "greedy-step": "*one greedy step* on the values of random play",
    "biggest-first": "*biggest-first*, a heuristic",
}


def draw_nine_tiles(folder: Path, results: Path = RESULTS) -> None:
    """Write curves.png and curves-dark.png into a folder.

    Args:
        folder: the folder.
        results: a results file with runs of DRAWN on nine tiles with a million steps.
    """
    task, measurements = by_task(read_measurements([results]))[TASK]
    runs = by_agent(measurements[measurements["budget"] == BUDGET])
    curves = {name: curve_over_seeds(runs[name], task.metric) for name in DRAWN}
    plans = pd.read_csv(RESULTS.with_name("throws.csv")).query("throws >= 10_000").rename(columns={"throws": "steps"})
    curves["planning with pooled throws"] = curve_over_seeds(plans.assign(seconds=0.0), "regret")
    evaluations = baselines(task)
    regrets = {name: evaluations[name].regret for name in BASELINES}
    draw_curves(folder / "curves.png", curves, regrets, task.heading)


def table(task: TrainingTask, measurements: pd.DataFrame) -> str:
    """Return the final regrets on a task as Markdown: a row per algorithm, a column per number of steps.

    A cell also has the median of the standard errors of sampled measurements, and of the minutes of a training. Rows
    are sorted by the column with the most entries, best first.
    """

    def after(runs: pd.DataFrame) -> str:
        error = runs["standard_error"].median()
        sampled = f"<br>± {rounded(error)}" if error > 0 else ""
        return f"{sampled}<br>{runs['seconds'].median() / 60:.2g} min"

    ends = measurements.sort_values("steps").groupby(["algorithm", "budget", "seed"], as_index=False).last()
    groups = ends.groupby(["algorithm", "budget"])
    cells = {key: cell(runs[task.metric], after(runs)) for key, runs in groups}
    usual = ends.groupby("budget")["algorithm"].nunique()[::-1].idxmax()
    names = groups[task.metric].median().unstack().sort_values(usual, kind="stable").index
    rows = pd.Series(cells).unstack(fill_value="").loc[names]
    rows = rows.set_axis("`" + names + "`").rename_axis("agent")
    return frame_table(rows.rename(columns=lambda budget: f"{budget / 1e6:g}M"))


def times_table(measurements: pd.DataFrame) -> str:
    """Return the processor seconds until each regret of REACHED on a task as Markdown, and the ratio to those of PEER.

    They are medians over seeds, with the steps that are fastest for an algorithm; a seed that never comes there counts
    as infinite.
    """
    columns = {}
    for regret in REACHED:
        reached = measurements["seconds"].where(measurements["regret"] <= regret, np.inf)
        first = reached.groupby([measurements["algorithm"], measurements["budget"], measurements["seed"]]).min()
        fastest = first.groupby(["algorithm", "budget"]).median().groupby("algorithm").min()
        times = fastest.map(rounded) + " (" + (fastest[PEER] / fastest).map(rounded) + ")"
        columns[f"until {regret}"] = times.where(fastest < np.inf, "")
        order = fastest.index[fastest.argsort()]
    rows = pd.DataFrame(columns).loc[order]
    return frame_table(rows[(rows != "").any(axis=1)].rename("`{}`".format).rename_axis("agent"))


def front_table(task: TrainingTask, measurements: pd.DataFrame) -> str:
    """Return the regrets of titled learners and baselines after BUDGET steps as Markdown, best first."""
    titles = BASELINE_TITLES | {name: learner.title for name, learner in LEARNERS.items()}
    rows = []
    for row in compare_agents(task, measurements[measurements["budget"] == BUDGET]):
        if name := titles.get(row["agent"]):
            between = f" ({rounded(row['low'])} to {rounded(row['high'])})" if "low" in row else ""
            minutes = f"{row['seconds'] / 60:.2g}" if "seconds" in row else ""
            rows.append([name, rounded(row["regret"]) + between, minutes])
    return markdown([f"nine tiles, {BUDGET // 10**6}M steps", "points lost in a turn", "processor minutes"], rows)


def learners_table() -> str:
    """Return the learners, their files, methods and sources as Markdown."""
    rows = (
        [f"`{name}`", f"`{learner.__module__.replace('.', '/')}.py`", learner.method, learner.source]
        for name, learner in LEARNERS.items()
    )
    return markdown(["name", "file", "algorithm", "source"], rows, left=4)


def departures_table(results: pd.DataFrame) -> str:
    """Return the final regrets of learners with one change each, for three seeds or more, as Markdown.

    Studies that have only the unchanged learner are left out.
    """
    by_change = results.groupby(["algorithm", "change", "study"], sort=False)["regret"]
    cells = by_change.apply(lambda regrets: cell(regrets) if len(regrets) >= 3 else "").unstack(fill_value="")
    cells = cells.loc[:, (cells.drop("none", level="change") != "").any()]
    return frame_table(cells.rename("`{}`".format, level="algorithm").rename_axis(["learner", "change"]), left=2)


def estimators_table(results: pd.DataFrame, game: str) -> str:
    """Return the directions of estimators in a game as Markdown: two columns for each policy.

    The first has the cosine between the mean and the exact gradient, the median over seeds. It is "1" where the median
    interval includes 1 and no cosine below 0.9, and "?" where it includes smaller ones. The second has the mean cosine
    of one batch.
    """
    columns = []
    for policy, rows in results[results["game"] == game].groupby("policy", sort=False):
        middle = rows.groupby("estimator", sort=False).median(numeric_only=True)
        unbiased = middle["low"].map(lambda low: "1" if low > 0.9 else "?")
        columns += [middle["cosine"].map("{:.2f}".format).where(middle["high"] < 1, unbiased).rename(policy)]
        columns += [middle["batch_cosine"].map("{:.2f}".format).rename("one batch")]
    return frame_table(pd.concat(columns, axis=1))


def faults_table(faults: pd.DataFrame) -> str:
    """Return how many faults of each family are found, by the checks and by others, as Markdown."""
    header = ["faults of", "planted", "flagged", "named", "without noise", "AgileRL", "probing", "return"]
    rows = []
    for family, alike in [*faults.groupby("family", sort=False), ("**all**", faults)]:
        checks = [alike["flagged"], alike["named"], alike["noise"].map({"no": "yes"})]
        cells = [str((column == "yes").sum()) for column in checks]
        for column in ("agilerl", "probing_environments", "return_curve"):
            tried = alike.loc[alike[column] != "n/a", column]
            cells.append(f"{(tried == 'yes').sum()} of {len(tried)}" if len(tried) else "n/a")
        rows.append([family, str(len(alike)), *cells])
    return markdown(header, rows)


def planning_means(results: pd.DataFrame) -> pd.DataFrame:
    """Return the mean regret of planners, half the width of its 95 % t interval, and the number of seeds."""
    found = results.groupby(["task", "planner", "simulations"])["regret"].agg(["mean", "sem", "size"])
    return found.assign(half=found["sem"] * stats.t.ppf(0.975, found["size"] - 1))


def planning_table(results: pd.DataFrame) -> str:
    """Return the regrets of planners by the number of simulations as Markdown."""
    means = planning_means(results)
    half = (" ± " + means["half"].map(rounded)).where(means["size"] > 1, "")
    cells = means["mean"].map(rounded) + half + means["size"].map(few_seeds)
    rows = cells.unstack(fill_value="").rename_axis(["game", "planner"])
    return frame_table(rows.rename(columns="{:,}".format), left=2)


def draw_planning(path: Path, results: pd.DataFrame) -> None:
    """Draw the regrets of planners against simulations, an axes per task; the dotted line is the limit of rollouts."""
    means = planning_means(results)

    def fill(figure: Figure) -> None:
        for axes, (task, (env, arguments)) in zip(figure.subplots(1, 2), planning.TASKS.items(), strict=True):
            for planner, marker in zip(planning.PLANNERS, "os", strict=True):
                curve = means.loc[task, planner]
                axes.errorbar(curve.index, curve["mean"], curve["half"], marker=marker, capsize=3, label=planner)
            found = hardness(gym.make(env, **arguments))
            axes.axhline(found.shares[0] * found.random_regret, color="grey", linestyle=":", label="limit of rollouts")
            axes.set(title=task, xlabel="simulations for a move", ylabel="regret (points)", xscale="log")
            axes.set_yscale("log", nonpositive="clip")
            axes.yaxis.set_major_formatter(tick)
            axes.grid(alpha=0.6)
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3)

    draw(path, (10, 4), fill)


def draw_text_rewards(folder: Path, results: pd.DataFrame) -> None:
    """Write text-rewards-GAME.png into a folder: the curves of a small language model trained by each reward."""
    for game, trained in results.groupby("game"):
        curves = {}
        for reward, rows in trained.groupby("reward"):
            runs = rows.melt("seed", [f"regret {answers}" for answers in text_rewards.POINTS])
            steps = runs["variable"].str.removeprefix("regret ").astype(int)
            curves[str(reward)] = curve_over_seeds(runs.assign(steps=steps, seconds=0.0), "value")
        best = solve(text_rewards.GAMES[str(game)])
        lines = {"random legal moves": abs(best.random_value - best.value)}
        draw_curves(folder / f"text-rewards-{game}.png", curves, lines, "regret (points)", "answers")


def models_table(results: pd.DataFrame) -> str:
    """Return the results of language models, averaged over seeds, by number of training games, as Markdown."""
    means = results.groupby("games")[language_model.NUMBERS].mean()
    rows = (
        [f"{int(games):,}", rounded(regret), f"{illegal:.1%}", f"{unparsable:.1%}"]
        for games, (regret, illegal, unparsable) in zip(means.index, means.to_numpy(), strict=True)
    )
    return markdown(["games", "regret", "illegal mass", "unparsable mass"], rows)


def difficulty_table(rows: pd.DataFrame) -> str:
    """Return the rank correlations of predicted difficulties with the models' mean rates of failure as Markdown.

    Tasks on which a prediction was chosen are left out.
    """
    rows = rows[rows["task"] >= task_difficulty.CHOSEN_ON]
    failed = 1 - rows[task_difficulty.PASS_RATES].mean(axis=1)
    cells = []
    for name in task_difficulty.PREDICTORS:
        pairs = rows[name].to_numpy(), failed.to_numpy()
        options = {"vectorized": False, "paired": True, "n_resamples": 2000, "method": "percentile", "rng": 0}
        low, high = stats.bootstrap(
            pairs, lambda one, other: stats.spearmanr(one, other).statistic, **options
        ).confidence_interval
        cells.append([f"`{name}`", f"{stats.spearmanr(*pairs).statistic:.2f}", f"{low:.2f} to {high:.2f}"])
    return markdown(["prediction", "rank correlation", "95% interval"], cells)


def pretrained_table(rows: pd.DataFrame) -> str:
    """Return the regrets that pretrained models have in sampled turns as Markdown."""
    header = ["game", "wording", "moves listed", "turns", "questions", "regret", "illegal", "unparsable"]
    cells = []
    for row in rows.itertuples():
        half = f" ± {rounded(1.96 * row.standard_error)}"
        shares = [f"{row.illegal_mass:.0%}", f"{row.unparsable_mass:.0%}"]
        cells.append(
            [row.game, row.wording, row.moves, str(row.turns), str(row.questions), rounded(row.regret) + half, *shares]
        )
    return markdown(header, cells, left=3)


def tables() -> dict[str, str]:
    """Return the tables of all results but those of `tables_of_solved_tasks`, by the heading above each."""
    folder = RESULTS.parent
    measured = by_task(read_measurements([RESULTS]))
    directions = pd.read_csv(folder / "estimators.csv")
    return {
        **{HEADINGS[name]: table(*of_task) for name, of_task in measured.items()},
        "Time until a regret": times_table(measured[TASK][1]),
        "How close do agents get?": front_table(*measured[TASK]),
        "The learners": learners_table(),
        "What differs from the textbook, and how much it matters": departures_table(
            read_numbers(folder / "departures.csv.gz", departures.KEY)
        ),
        "A small model": models_table(read_numbers(folder / "language_model.csv.gz", language_model.KEY)),
        "A pretrained model": pretrained_table(pd.read_csv(folder / "pretrained_models.csv")),
        "Draw tasks of known difficulty": difficulty_table(
            read_numbers(folder / "task_difficulty.csv.gz", task_difficulty.KEY)
        ),
        "A zoo of faults": faults_table(pd.read_csv(folder / "faults.csv", keep_default_na=False)),
        "Regret against simulations": planning_table(read_planning()),
        **{f"Estimators: {HEADINGS[game]}": estimators_table(directions, game) for game in estimators.GAMES},
        **hardness_page.tables(),
    }


def tables_of_solved_tasks() -> dict[str, str]:
    """Return the tables of exact-8 and of the study of hardness, by the heading above each; both solve their tasks."""
    return {"Results": exact8.table(exact8.read_grades()), **hardness_page.tables_of_solved_tasks()}


def read_text_rewards() -> pd.DataFrame:
    """Return the curves of a small language model by the reward that trained it, a row per training."""
    return read_numbers(RESULTS.with_name("text_rewards.csv.gz"), text_rewards.KEY)


def read_planning() -> pd.DataFrame:
    """Return the regrets of planners."""
    return read_numbers(RESULTS.with_name("planning.csv.gz"), planning.KEY)


def with_tables(page: str, found: Mapping[str, str]) -> str:
    """Return the page with the tables below its headings replaced."""
    for heading, rows in found.items():
        before, line, after = page.partition(f"# {heading}\n")
        if line:
            words, *_ = after.partition("\n| ")
            rest = re.sub(r"\A(\|.*\n)+", "", after[len(words) + 1 :])
            page = f"{before}{line}{words}\n{rows}\n{rest}"
    return page


def write_curves(path: Path) -> None:
    """Write the page of all curves, with links to the explorer of nine tiles in the same folder."""
    rows = pd.read_csv(RESULTS.with_name("mistakes.csv"))
    rows["link"] = "index.html#board?" + rows["afterstate"].str.replace(" ", "=") + "&roll=" + rows["roll"].astype(str)
    mistakes = dict(iter(rows.groupby(["task", "algorithm", "variant"])))
    measured = by_task(read_measurements([RESULTS]))
    shown = {}
    for name, title in HEADINGS.items():
        task, measurements = measured[name]
        lines = {policy: evaluation.regret for policy, evaluation in baselines(task).items()}

        def of_agent(run: "pd.Series", name: str = name) -> pd.DataFrame | None:
            return mistakes.get((name, run["algorithm"], run["variant"]))

        shown[name] = curves_of(title, task, measurements, lines, of_agent)
    write_page(path, shown)


if __name__ == "__main__":
    draw_nine_tiles(DOCS)
    hardness_page.draw_parts(DOCS / "parts.png")
    exact8.draw_scores(DOCS / "exact8.png", exact8.read_grades())
    draw_planning(DOCS / "planning.png", read_planning())
    draw_text_rewards(DOCS, read_text_rewards())
    found = tables() | tables_of_solved_tasks()
    for page in PAGES:
        write_text(page, with_tables(page.read_text(), found))
