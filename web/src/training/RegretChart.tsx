// How the regret of trainings fell: both axes logarithmic, a line for each, with a cursor where one looks.

import type { Run } from "../data/game";
import { inkOf } from "../parts/Badge";
import { narrow } from "../parts/screen";

const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [260, 56, 14, 12, 34];

export function RegretChart({ runs, at }: { runs: Run[]; at: number[] }) {
  const width = narrow.value ? 360 : 1060;
  const steps = runs.flatMap((run) => run.steps.filter((step) => step > 0));
  const regrets = runs.flatMap((run) => run.regret.filter((regret) => regret > 0));
  const [first, last] = [Math.min(...steps), Math.max(...steps)];
  const [low, high] = [Math.floor(Math.log10(Math.min(...regrets))), Math.ceil(Math.log10(Math.max(...regrets)))];
  const from = Math.log10(first) - 0.3; // where the measurement before the first step stands
  const x = (step: number) =>
    LEFT + (((step ? Math.log10(step) : from) - from) / (Math.log10(last) - from || 1)) * (width - LEFT - RIGHT);
  const y = (regret: number) =>
    TOP + ((high - (regret ? Math.log10(regret) : low)) / (high - low || 1)) * (HEIGHT - TOP - BOTTOM);
  const says = runs.map(
    (run, each) =>
      `${run.name} loses ${regretShown(run.regret[at[each]])} after ${stepsShown(run.steps[at[each]])} steps`,
  );
  const decades = (least: number, most: number) =>
    Array.from({ length: Math.max(0, most - least + 1) }, (_, place) => least + place);
  return (
    <svg class="chart" viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={`Regret by steps. ${says.join("; ")}`}>
      {decades(low, high).map((power) => (
        <g class="tick">
          <line x1={LEFT} x2={width - RIGHT} y1={y(10 ** power)} y2={y(10 ** power)} />
          <text x={LEFT - 8} y={y(10 ** power) + 4} text-anchor="end">
            {10 ** power >= 1 ? 10 ** power : (10 ** power).toFixed(-power)}
          </text>
        </g>
      ))}
      {decades(Math.ceil(Math.log10(first)), Math.floor(Math.log10(last))).map((power) => (
        <text x={x(10 ** power)} y={HEIGHT - 16} text-anchor="middle">
          {stepsShown(10 ** power)}
        </text>
      ))}
      <text x={width - RIGHT} y={HEIGHT - 2} text-anchor="end">
        steps
      </text>
      {runs.map((run, each) => (
        <g style={{ color: inkOf(run.colour) }}>
          <polyline
            class="line"
            points={run.steps.map((step, place) => `${x(step)},${y(run.regret[place])}`).join(" ")}
            stroke-dasharray={run.dashes.map((length) => 2 * length).join(" ")}
          />
          <line class="cursor" x1={x(run.steps[at[each]])} x2={x(run.steps[at[each]])} y1={TOP} y2={HEIGHT - BOTTOM} />
          <circle class="dot" cx={x(run.steps[at[each]])} cy={y(run.regret[at[each]])} r="5" />
        </g>
      ))}
    </svg>
  );
}

export function stepsShown(steps: number): string {
  const [size, unit] = steps >= 1e6 ? [1e6, " M"] : steps >= 1e3 ? [1e3, " k"] : [1, ""];
  return `${Number((steps / size).toPrecision(3))}${unit}`;
}

export function regretShown(regret: number): string {
  return regret === 0 ? "0" : regret.toPrecision(3);
}
