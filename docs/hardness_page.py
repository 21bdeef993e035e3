"""The tables and the picture of docs/hardness.md: what makes tasks hard, and why agents lose."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from docs.cells import HEADINGS, frame_table, mean_cell
from docs.pictures import draw
from docs.written import markdown
from training.experiments import families, representations, rest
from training.experiments.diagnoses import CHANGES, KEY, MIN_VISITS, STUDIED
from training.experiments.hardness import KEY as HARDNESS_KEY
from training.experiments.hardness import correlations, within_families
from training.report import rounded
from training.results import read_numbers

RESULTS = Path(__file__).with_name("results")
PARTS = {"exploration": "#d95f02", "sampling": "#7570b3", "rest": "#1b9e77"}  # of a regret, and their colours


def means_of(results: pd.DataFrame) -> pd.DataFrame:
    """Return the means over seeds of regrets and their parts, by task and agent; least regret first."""
    means = results.groupby(["task", "agent"], sort=False).mean(numeric_only=True).sort_values("regret", kind="stable")
    rest_of = {
        f"rest_{visits}": means["regret"] - means[f"exploration_{visits}"] - means[f"sampling_{visits}"]
        for visits in MIN_VISITS
    }
    return means.assign(**rest_of)


def parts_table(results: pd.DataFrame, task: str) -> str:
    """Return the parts of the regrets on a task as Markdown: means over seeds, and both orders of two parts."""
    header = ["agent", "seeds", "regret", "exploration", "first, second", "sampling", "first, second", "rest"]
    rows = []
    for agent in means_of(results).loc[task].index:
        found = results[(results["task"] == task) & (results["agent"] == agent)]
        both = found["exploration_1"] + found["sampling_1"]
        cells = [f"`{agent}`", str(len(found)), mean_cell(found["regret"])]
        for part, other in (("exploration", "sampling"), ("sampling", "exploration")):
            first, second = found[f"{part}_first_1"].mean(), (both - found[f"{other}_first_1"]).mean()
            cells += [mean_cell(found[f"{part}_1"]), f"{rounded(first)}, {rounded(second)}"]
        rows.append([*cells, mean_cell(found["regret"] - both)])
    return markdown(header, rows)


def thresholds_table(results: pd.DataFrame) -> str:
    """Return the mean exploration and sampling for each number of visits from which an action counts as tried."""
    columns = [(part, visits) for part in ("exploration", "sampling") for visits in MIN_VISITS]
    means = means_of(results)[[f"{part}_{visits}" for part, visits in columns]].map(rounded)
    rows = ([HEADINGS[task], f"`{agent}`", *row] for task in STUDIED for agent, row in means.loc[task].iterrows())
    return markdown(["task", "agent", *(f"{part}, {visits}" for part, visits in columns)], rows, left=2)


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


def representations_table(results: pd.DataFrame) -> str:
    """Return the mean regret behind each representation as Markdown, with its parts in small letters."""
    of_agents = results.groupby(["representation", "task", "agent"], sort=False)
    means = of_agents[representations.NUMBERS].mean().map(rounded)
    parts = means[[*PARTS]].agg(", ".join, axis=1)
    cells = (means["regret"] + "<br><small>" + parts + "</small>").unstack([1, 2], fill_value="")
    cells.columns = [f"{HEADINGS[task]}, `{agent}`" for task, agent in cells.columns]
    return frame_table(cells.loc[[name for name in representations.SHOWN if name in cells.index]])


def families_table(results: pd.DataFrame) -> str:
    """Return the rank correlation of each varied measure with regret in its family as Markdown, a row for each learner.

    The last column has how well a fit on one half of the tasks ranks the other half. Learners that lack a task are left
    out.
    """
    tasks = results.groupby("agent")["task"].nunique()
    results = results[results["agent"].map(tasks) == tasks.max()]
    found = families.correlations(results).set_index(["agent", "family"])
    cells = found.map("{:.2f}".format)
    shown = (cells["correlation"] + " (" + cells["low"] + " to " + cells["high"] + ")").unstack()[[*families.VARIED]]
    others = families.predictions(results).map("{:.2f}".format)
    shown["other half"] = others["median"] + " (" + others["low"] + " to " + others["high"] + ")"
    shown.insert(0, "seeds", results.groupby("agent")["seed"].nunique().astype(str))
    return frame_table(shown.rename("`{}`".format).rename_axis("learner"))


def changes_table(results: pd.DataFrame) -> str:
    """Return the regrets before and after changes of agents as Markdown, with the parts before as shares.

    Changes whose agents are not in the results are left out.
    """
    rows = []
    for task in STUDIED:
        means = means_of(results).loc[task]
        for agent, changed in CHANGES:
            if {agent, changed} <= {*means.index}:
                shares = [f"{means.at[agent, f'{part}_1'] / means.at[agent, 'regret']:.0%}" for part in PARTS]
                before, after = means.loc[[agent, changed], "regret"].map(rounded)
                rows.append([HEADINGS[task], f"`{agent}`", *shares, before, f"`{changed}`", after])
    return markdown(["task", "agent", *PARTS, "regret", "changed agent", "regret"], rows, left=2)


def draw_parts(path: Path) -> None:
    """Draw the parts of each agent's regret as shares: a bar for each number of visits, and an axes per task.

    Agents with a bonus for exploration are left out.
    """
    all_means = means_of(read_diagnoses())
    thickness = 0.8 / len(MIN_VISITS)

    def fill(figure: Figure) -> None:
        for axes, task in zip(figure.subplots(1, len(STUDIED)), STUDIED, strict=True):
            means = all_means.loc[task]
            means = means[~means.index.str.contains(" with")]
            for bar, visits in enumerate(MIN_VISITS):
                heights, ends = np.arange(len(means)) + (bar - 1) * thickness, np.zeros(len(means))
                for part, colour in PARTS.items():
                    share = (means[f"{part}_{visits}"] / means["regret"]).to_numpy()
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


def read_diagnoses() -> pd.DataFrame:
    """Return the parts of regrets of all agents."""
    return read_numbers(RESULTS / "diagnoses.csv.gz", KEY)


def tables() -> dict[str, str]:
    """Return the tables about the regrets of agents, by the heading above each."""
    parts = read_diagnoses()
    return {
        "What the parts predict": changes_table(parts),
        **{f"Parts of the regret: {HEADINGS[task]}": parts_table(parts, task) for task in STUDIED},
        "What counts as tried": thresholds_table(parts),
        "What positions are shown as": representations_table(
            read_numbers(RESULTS / "representations.csv.gz", representations.KEY)
        ),
        "What the rest consists of": rest_table(read_numbers(RESULTS / "rest.csv.gz", rest.KEY)),
    }


def tables_of_solved_tasks() -> dict[str, str]:
    """Return the rank correlations of hardness measures and the scores of learners, by the heading above each."""
    studied, of_families = (read_numbers(RESULTS / f"{name}.csv.gz", HARDNESS_KEY) for name in ("hardness", "families"))
    found = {
        "Rank correlations within families": within_families(studied),
        "Rank correlations over all tasks": correlations(studied),
    }
    of_learners = {
        heading: frame_table(each.map("{:.2f}".format).rename("`{}`".format).rename_axis("learner"))
        for heading, each in found.items()
    }
    return of_learners | {"Tasks of one size": families_table(of_families)}
