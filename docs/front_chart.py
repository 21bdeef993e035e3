"""Draw the chart of the first page: learning curves with a label at the end of each, as HTML."""

from html import escape
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.registry import LEARNERS
from stb_gym.explorer.page import COLOURS, DASHES
from training.compare import baselines
from training.report import rounded
from training.results import by_agent, by_task, curve_over_seeds, read_measurements

RESULTS = Path(__file__).parent / "results" / "curves.csv.gz"
TASK, BUDGET = "nine-tiles", 1_000_000
DRAWN = {  # learners, and the policies to play against; none of learners that play illegal actions
    "afterstates": "afterstates",
    "fitted-q": "fitted-q-nine-tiles",
    "ppo": "ppo-nine-tiles",
    "q-learning": "q-learning",
    "sb3-ppo": "",
    "sb3-dqn": "",
}
NO_LEARNING = ("biggest-first", "random")
STEPS, LOSSES = (1e4, 1e6), (1e-3, 5e1)  # the ends of the logarithmic axes
WIDTH, LEADER = 100, 10  # of the curves, and of the lines from their ends to the labels


def front_chart(results: Path = RESULTS) -> str:
    """Return the chart as HTML. Labels are sorted by the last regret, and link to mistakes and to a game."""
    task, measurements = by_task(read_measurements([results]))[TASK]
    runs = by_agent(measurements[measurements["budget"] == BUDGET])
    evaluations = baselines(task)
    lines = []
    for name, policy in DRAWN.items():
        title, _, _ = LEARNERS[name].title.partition(", `")
        curve = curve_over_seeds(runs[name], task.metric).query("steps >= @STEPS[0]")
        lines.append(
            (title, f"curves.html#{TASK}?agent={name}", policy, curve["steps"].to_numpy(), curve["median"].to_numpy())
        )
    for name in NO_LEARNING:
        mistakes = f"#map?by=loss&player={name}"
        lines.append((name, mistakes, name, STEPS, [evaluations[name].regret] * 2))
    lines.sort(key=lambda line: -line[-1][-1])
    drawn, labels = [], []
    for place, (title, mistakes, policy, steps, losses) in enumerate(lines):
        dashes, colour = DASHES[place // len(COLOURS)], COLOURS[place % len(COLOURS)]
        across, down = WIDTH * share(steps, STEPS), 100 - 100 * share(losses, LOSSES)
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, down, strict=True))
        to_label = f"{WIDTH},{down[-1]:.1f} {WIDTH + LEADER},{100 * (place + 0.5) / len(lines):.1f}"
        mixed = [f"color-mix(in srgb, {colour} {amount})" for amount in ("55%, black", "65%, white")]
        style = f'style="color: light-dark({", ".join(mixed)})"'
        dashed = " ".join(f"{2 * length:g}" for length in dashes)
        drawn.append(f'<g {style}><polyline points="{points}" stroke-dasharray="{dashed}"/>')
        drawn.append(f'<polyline class="leader" points="{to_label}"/></g>')
        links = [f'<a href="{escape(mistakes)}" aria-label="worst mistakes of {title}"><span>worst </span>mistakes</a>']
        if policy:
            href = f"#play?against={policy}&amp;turn=first"
            label = f'aria-label="play against it: {title}"'
            links.append(f'<a href="{href}" {label}>play<span> against it</span></a>')
        else:
            links.append("<span>plays illegal moves</span>")
        last = rounded(losses[-1])
        labels.append(f"<li><b {style}>{title}</b> <span>loses </span>{last}<br>{' '.join(links)}</li>")
    levels = [f'<span style="top: {100 - 100 * share(y, LOSSES):.1f}%">{y:g}</span>' for y in (0.001, 0.01, 0.1, 1, 10)]
    ticks = {1e4: "10 k", 1e5: "100 k", 1e6: "1 M steps"}
    counts = [f'<span style="left: {100 * share(x, STEPS):.1f}%">{words}</span>' for x, words in ticks.items()]
    return "\n".join(
        [
            '<p class="axis">points lost in a turn</p>',
            f'<div class="lines"><div class="levels" aria-hidden="true">{"".join(levels)}</div>',
            f'<svg viewBox="0 0 {WIDTH + LEADER} 100" preserveAspectRatio="none" aria-hidden="true">',
            *drawn,
            "</svg>",
            f'<ol aria-label="agents, the worst first">{"".join(labels)}</ol>',
            f'<div class="counts" aria-hidden="true">{"".join(counts)}</div></div>',
        ]
    )


def share(values: ArrayLike, ends: tuple[float, float]) -> NDArray[np.float64]:
    """Return where positive values are on a logarithmic axis, from 0 to 1."""
    low, high = np.log(ends)
    return np.clip((np.log(np.asarray(values)) - low) / (high - low), 0, 1)
