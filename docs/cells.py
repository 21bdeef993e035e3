"""Cells of tables and the headings of tasks, which all pages of results share."""

import numpy as np
import pandas as pd
from scipy import stats

from docs.written import markdown
from training.report import rounded
from training.seeds import interval

HEADINGS = {"nine-tiles": "Nine tiles", "threes": "Threes", "twelve-tiles": "Twelve tiles", "the-300": "The 300"}
SEEDS = 5  # cells with fewer seeds give their number


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


def frame_table(frame: pd.DataFrame, left: int = 1) -> str:
    """Return a table of texts as Markdown; its index is in the first columns, and `left` of them are aligned left."""
    columns = frame.reset_index()
    return markdown([*columns], columns.to_numpy().tolist(), left)
