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
from docs import exact8
from docs.pictures import draw, draw_curves, tick
from docs.written import markdown
from stb_gym import hardness
from stb_gym.files import write_text
from training.compare import baselines, compare_agents
from training.experiments import departures, diagnoses, estimators, language_model, planning, rest
from training.experiments.hardness import KEY as HARDNESS_KEY
from training.experiments.hardness import correlations, within_families
from training.report import curves_of, rounded, write_page
from training.results import (
    TrainingTask,
    by_agent,
    by_task,
    curve_over_seeds,
    read_measurements,
    read_numbers,
)
from training.seeds import interval

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
HEADINGS = {"nine-tiles": "Nine tiles", "threes": "Threes", "twelve-tiles": "Twelve tiles", "the-300": "The 300"}
PARTS = {"exploration": "#d95f02", "sampling": "#7570b3", "rest": "#1b9e77"}  # of a regret, and their colours
TASK = "nine-tiles"
DRAWN = (  # learners in the picture of the README
    "afterstates", "certainty-equivalence", "fitted-q", "ppo", "dqn",
    "sb3-maskable-ppo-tuned", "sb3-maskable-ppo", "sb3-ppo", "sb3-dqn",
)  # fmt: skip
BUDGET = 1_000_000
SEEDS = 5  # cells with fewer seeds give their number
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

    A cell also has the median of the minutes of a training. Rows are sorted by the column with the most
    entries, best first.
    """
    ends = measurements.sort_values("steps").groupby(["algorithm", "budget", "seed"], as_index=False).last()
    cells, means = {}, {}
    for (algorithm, budget), runs in ends.groupby(["algorithm", "budget"]):
        minutes = runs["seconds"].median() / 60
        cells[algorithm, budget] = cell(runs[task.metric], f"<br>{minutes:.2g} min")
        means[algorithm, budget] = runs[task.metric].median()
    usual = ends.groupby("budget")["algorithm"].nunique()[::-1].idxmax()
    names = sorted(ends["algorithm"].unique(), key=lambda name: means.get((name, usual), np.inf))
    budgets = sorted(ends["budget"].unique())
    rows = ([f"`{name}`", *(cells.get((name, budget), "") for budget in budgets)] for name in names)
    return markdown(["agent", *(f"{budget / 1e6:g}M" for budget in budgets)], rows)


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
    rows = ([f"`{learner}`", change, *row] for (learner, change), row in cells.iterrows())
    return markdown(["learner", "change", *cells], rows, left=2)


def correlations_table(found: pd.DataFrame) -> str:
    """Return the rank correlations of hardness measures and the scores of learners as Markdown."""
    return markdown(["learner", *found], ([f"`{name}`", *(f"{x:.2f}" for x in row)] for name, row in found.iterrows()))


def estimators_table(results: pd.DataFrame, game: str) -> str:
    """Return the directions of estimators in a game as Markdown: two columns for each policy.

    The first has the cosine between the mean and the exact gradient, the median over seeds. It is "1" where the median
    interval includes 1 and no cosine below 0.9, and "?" where it includes smaller ones. The second has the mean cosine
    of one batch.
    """
    header = ["estimator"]
    columns = []
    for policy, rows in results[results["game"] == game].groupby("policy", sort=False):
        middle = rows.groupby("estimator", sort=False).median(numeric_only=True)
        unbiased = middle["low"].map(lambda low: "1" if low > 0.9 else "?")
        header += [str(policy), "one batch"]
        columns += [middle["cosine"].map("{:.2f}".format).where(middle["high"] < 1, unbiased)]
        columns += [middle["batch_cosine"].map("{:.2f}".format)]
    return markdown(header, ([name, *row] for name, row in pd.concat(columns, axis=1).iterrows()))


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


def parts_of(results: pd.DataFrame, task: str, min_visits: int = 1) -> dict[str, pd.DataFrame]:
    """Return the regrets on a task and the parts of them, a row for each seed, by agent; least regret first.

    The rest includes representation.

    Args:
        results: rows of `training.experiments.diagnoses`.
        task: the task.
        min_visits: how often an action was taken that counts as tried.
    """
    found = results[results["task"] == task].rename(columns=lambda name: name.removesuffix(f"_{min_visits}"))
    both = found["exploration"] + found["sampling"]
    found = found.assign(
        exploration_second=both - found["sampling_first"],
        sampling_second=both - found["exploration_first"],
        rest=found["regret"] - both,
    )
    return dict(sorted(found.groupby("agent", sort=False), key=lambda of_agent: of_agent[1]["regret"].mean()))


def parts_table(parts: Mapping[str, pd.DataFrame]) -> str:
    """Return a result of `parts_of` as Markdown: means over seeds, and both orders of two parts."""
    header = ["agent", "seeds", "regret", "exploration", "first, second", "sampling", "first, second", "rest"]
    rows = []
    for agent, found in parts.items():
        cells = [f"`{agent}`", str(len(found)), mean_cell(found["regret"])]
        for part in ("exploration", "sampling"):
            orders = [rounded(found[f"{part}_{order}"].mean()) for order in ("first", "second")]
            cells += [mean_cell(found[part]), ", ".join(orders)]
        rows.append([*cells, mean_cell(found["rest"])])
    return markdown(header, rows)


def thresholds_table(results: pd.DataFrame) -> str:
    """Return the mean exploration and sampling for each number of visits from which an action counts as tried."""
    rows = []
    for task in diagnoses.STUDIED:
        by_visits = [parts_of(results, task, visits) for visits in diagnoses.MIN_VISITS]
        for agent in by_visits[0]:
            cells = [rounded(parts[agent][part].mean()) for part in ("exploration", "sampling") for parts in by_visits]
            rows.append([HEADINGS[task], f"`{agent}`", *cells])
    header = [f"{part}, {visits}" for part in ("exploration", "sampling") for visits in diagnoses.MIN_VISITS]
    return markdown(["task", "agent", *header], rows, left=2)


def rest_table(results: pd.DataFrame) -> str:
    """Return the regrets of learners without help, the rest, and the drop of the regret by each help, as Markdown."""
    rows = []
    for (task, agent), found in results.groupby(["task", "agent"], sort=False):
        regrets = found.pivot(index="seed", columns="help", values="regret")
        plain = found[found["help"] == rest.NONE]
        drops = [mean_cell(regrets[rest.NONE] - regrets[name]) if name in regrets else "" for name in rest.HELPS[1:]]
        rows.append([HEADINGS[task], f"`{agent}`", str(len(plain)), *map(mean_cell, (plain["regret"], plain["rest"]))])
        rows[-1] += drops
    return markdown(["task", "agent", "seeds", "regret", "rest", *rest.HELPS[1:]], rows, left=2)


def changes_table(results: pd.DataFrame) -> str:
    """Return the regrets before and after changes of agents as Markdown, with the parts before as shares.

    Changes are left out until both agents are in the results.
    """
    rows = []
    for task in diagnoses.STUDIED:
        parts = {agent: found.mean(numeric_only=True) for agent, found in parts_of(results, task).items()}
        for agent, changed in diagnoses.CHANGES:
            if agent in parts and changed in parts:
                shares = [f"{parts[agent][part] / parts[agent]['regret']:.0%}" for part in PARTS]
                before, after = (rounded(parts[name]["regret"]) for name in (agent, changed))
                rows.append([HEADINGS[task], f"`{agent}`", *shares, before, f"`{changed}`", after])
    return markdown(["task", "agent", *PARTS, "regret", "changed agent", "regret"], rows, left=2)


def draw_parts(path: Path, results: pd.DataFrame) -> None:
    """Draw the parts of each agent's regret as shares: a bar for each number of visits, and an axes per task.

    A bar ends beyond 100% if the rest is negative. Agents with a changed setting are left out.
    """
    results = results[~results["agent"].str.contains(" with")]
    thickness = 0.8 / len(diagnoses.MIN_VISITS)

    def fill(figure: Figure) -> None:
        for axes, task in zip(figure.subplots(1, len(diagnoses.STUDIED)), diagnoses.STUDIED, strict=True):
            for bar, visits in enumerate(diagnoses.MIN_VISITS):
                parts = parts_of(results, task, visits)
                means = pd.DataFrame({agent: found[["regret", *PARTS]].mean() for agent, found in parts.items()}).T
                heights, ends = np.arange(len(means)) + (bar - 1) * thickness, np.zeros(len(means))
                for part, colour in PARTS.items():
                    share = (means[part] / means["regret"]).to_numpy()
                    label = part if bar == 0 else None
                    axes.barh(heights, share, thickness * 0.9, ends, color=colour, label=label)
                    ends += share
                for height in heights:
                    axes.text(0.01, height, f"{visits}", va="center", fontsize=6, color="white")
            names = [f"{agent}: {rounded(regret)}" for agent, regret in means["regret"].items()]
            axes.set_yticks(range(len(names)), names)
            axes.invert_yaxis()
            axes.set_title(f"{HEADINGS[task]}: parts of the regret, and the regret in points", fontsize=9)
            axes.set_xlabel("an action counts as tried after 1, 10 or 100 visits", fontsize=8)
            axes.tick_params(labelsize=7)
            axes.xaxis.set_major_formatter("{x:.0%}")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=len(PARTS))

    draw(path, (10, 4), fill)


def planning_means(results: pd.DataFrame) -> pd.DataFrame:
    """Return the mean regret of planners, half the width of its 95 % t interval, and the number of seeds."""
    found = results.groupby(["task", "planner", "simulations"])["regret"].agg(["mean", "sem", "size"])
    return found.assign(half=found["sem"] * stats.t.ppf(0.975, found["size"] - 1))


def planning_table(results: pd.DataFrame) -> str:
    """Return the regrets of planners by the number of simulations as Markdown."""
    means = planning_means(results)
    half = (" ± " + means["half"].map(rounded)).where(means["size"] > 1, "")
    cells = means["mean"].map(rounded) + half + means["size"].map(few_seeds)
    rows = ([*names, *row] for names, row in cells.unstack(fill_value="").iterrows())
    return markdown(["game", "planner", *(f"{count:,}" for count in planning.SIMULATIONS)], rows, left=2)


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


def models_table(results: pd.DataFrame) -> str:
    """Return the results of language models, averaged over seeds, by number of training games, as Markdown."""
    means = results.groupby("games")[language_model.NUMBERS].mean()
    rows = (
        [f"{int(games):,}", rounded(regret), f"{illegal:.1%}", f"{unparsable:.1%}"]
        for games, (regret, illegal, unparsable) in zip(means.index, means.to_numpy(), strict=True)
    )
    return markdown(["games", "regret", "illegal mass", "unparsable mass"], rows)


def cell(regrets: "pd.Series[float]", after: str = "") -> str:
    """Return the median of regrets and, in small letters, its interval, followed by `after`."""
    values = regrets.to_numpy(float)
    low, high = interval(values)
    between = f"{rounded(low)} to {rounded(high)}{few_seeds(len(values))}"
    return f"{rounded(np.median(values))}<br><small>{between}{after}</small>"


def mean_cell(values: "pd.Series[float]") -> str:
    """Return the mean, and from SEEDS values on half the width of its 95% t interval."""
    if len(values) < SEEDS:
        return rounded(values.mean())
    return f"{rounded(values.mean())} ± {rounded(values.sem() * stats.t.ppf(0.975, len(values) - 1))}"


def few_seeds(number: int) -> str:
    """Return a line "N seeds" for fewer than SEEDS, else ""."""
    return f"<br>{number} seeds" if number < SEEDS else ""


def tables() -> dict[str, str]:
    """Return the tables of all results but those of `tables_of_solved_tasks`, by the heading above each."""
    folder = RESULTS.parent
    measured = by_task(read_measurements([RESULTS]))
    found = {HEADINGS[name]: table(*of_task) for name, of_task in measured.items()}
    found["How close do agents get?"] = front_table(*measured[TASK])
    found["The learners"] = learners_table()
    changes = read_numbers(folder / "departures.csv.gz", departures.KEY)
    found["What differs from the textbook, and how much it matters"] = departures_table(changes)
    parts = read_diagnoses()
    found["What the parts predict"] = changes_table(parts)
    found |= {f"Parts of the regret: {HEADINGS[t]}": parts_table(parts_of(parts, t)) for t in diagnoses.STUDIED}
    found["What counts as tried"] = thresholds_table(parts)
    found["What the rest consists of"] = rest_table(read_numbers(folder / "rest.csv.gz", rest.KEY))
    models = read_numbers(folder / "language_model.csv.gz", language_model.KEY)
    found["A small model"] = models_table(models)
    found["A zoo of faults"] = faults_table(pd.read_csv(folder / "faults.csv", keep_default_na=False))
    found["Regret against simulations"] = planning_table(read_planning())
    directions = pd.read_csv(folder / "estimators.csv")
    found |= {f"Estimators: {HEADINGS[game]}": estimators_table(directions, game) for game in estimators.GAMES}
    return found


def tables_of_solved_tasks() -> dict[str, str]:
    """Return the tables of exact-8 and of the study of hardness, by the heading above each; both solve their tasks."""
    studied = read_numbers(RESULTS.with_name("hardness.csv.gz"), HARDNESS_KEY)
    return {
        "Results": exact8.table(exact8.read_grades()),
        "Rank correlations within families": correlations_table(within_families(studied)),
        "Rank correlations over all tasks": correlations_table(correlations(studied)),
    }


def read_diagnoses() -> pd.DataFrame:
    """Return the parts of regrets of all agents."""
    return read_numbers(RESULTS.with_name("diagnoses.csv.gz"), diagnoses.KEY)


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
    draw_parts(DOCS / "parts.png", read_diagnoses())
    exact8.draw_scores(DOCS / "exact8.png", exact8.read_grades())
    draw_planning(DOCS / "planning.png", read_planning())
    found = tables() | tables_of_solved_tasks()
    for page in PAGES:
        write_text(page, with_tables(page.read_text(), found))
