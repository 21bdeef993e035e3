// Learning curves with their intervals. A dot marks the picked measurement.

import { inkOf } from "../parts/Badge";
import { EndLabels } from "../parts/EndLabels";
import { narrow } from "../parts/screen";
import { countShown, evenTicks, logAxis, tickShown, type Axis } from "../parts/scales";
import { shown, type Agent } from "./data";

const [LEFT, TOP, BOTTOM] = [58, 26, 40];
const [RIGHT, FOR_LABELS] = [12, 190]; // without and with labels at the ends of the lines
const MOST_TICKS = 6; // of a linear axis
const MARGIN = 1.1; // the end of the y axis, as a multiple of the largest median

interface Props {
  agents: Agent[];
  lines: Record<string, number>;
  unit: string;
  x: "steps" | "minutes";
  logX: boolean;
  logY: boolean;
  picked: Agent | undefined;
  at: number;
  pick: (agent: Agent, at: number) => void;
}

export function Chart({ agents, lines, unit, x, logX, logY, picked, at, pick }: Props) {
  const [width, height, right] = narrow.value ? [364, 320, RIGHT] : [740, 620, FOR_LABELS];
  const drawn = (agent: Agent) =>
    agent.steps.map((_, index) => index).filter((index) => agent.steps[index] > 0 || !logX);
  const medians = [
    ...agents.flatMap((agent) => drawn(agent).map((index) => agent.median[index])),
    ...Object.values(lines),
  ];
  const across = axis(
    agents.flatMap((agent) => drawn(agent).map((index) => agent[x][index])),
    logX,
  );
  const up = axis([...medians, MARGIN * Math.max(...medians)], logY);
  const toX = (value: number) => LEFT + across.at(value) * (width - LEFT - right);
  const toY = (value: number) => height - BOTTOM - Math.min(1, Math.max(0, up.at(value))) * (height - TOP - BOTTOM);
  const points = (agent: Agent, values: number[], indices = drawn(agent)) =>
    indices.map((index) => `${toX(agent[x][index]).toFixed(1)},${toY(values[index]).toFixed(1)}`);
  const pickNearest = (event: PointerEvent & { currentTarget: SVGSVGElement }) => {
    const box = event.currentTarget.getBoundingClientRect();
    const [left, top] = [event.clientX - box.left, event.clientY - box.top].map((at) => (at * width) / box.width);
    const distance = ([agent, index]: [Agent, number]) =>
      Math.hypot(toX(agent[x][index]) - left, toY(agent.median[index]) - top);
    const all = agents.flatMap((agent) => drawn(agent).map((index): [Agent, number] => [agent, index]));
    if (all.length) pick(...all.reduce((best, other) => (distance(other) < distance(best) ? other : best)));
  };
  return (
    <svg
      class="chart curves"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`${unit} by ${x}: curves of ${agents.map(({ name }) => name).join(", ")}`}
      onPointerMove={pickNearest}
      onPointerDown={pickNearest}
    >
      {up.ticks.map((value) => (
        <g class="tick">
          <line x1={LEFT} x2={width - right} y1={toY(value)} y2={toY(value)} />
          <text x={LEFT - 6} y={toY(value) + 4} text-anchor="end">
            {tickShown(value)}
          </text>
        </g>
      ))}
      {across.ticks.map((value) => (
        <g class="tick">
          <line x1={toX(value)} x2={toX(value)} y1={TOP} y2={height - BOTTOM} />
          <text x={toX(value)} y={height - BOTTOM + 16} text-anchor="middle">
            {x === "steps" ? countShown(value) : tickShown(value)}
          </text>
        </g>
      ))}
      <text x={width - right} y={height - 6} text-anchor="end">
        {x === "steps" ? "steps" : "processor minutes"}
      </text>
      <text x={2} y={12}>
        {unit}
      </text>
      {agents.map((agent) => (
        <g style={{ color: inkOf(agent.colour) }} class={agent === picked ? "picked" : undefined}>
          <polygon
            points={[...points(agent, agent.low), ...points(agent, agent.high, drawn(agent).reverse())].join(" ")}
          />
          <polyline
            class="line"
            points={points(agent, agent.median).join(" ")}
            stroke-dasharray={agent.dashes.map((length) => 2 * length).join(" ")}
          />
        </g>
      ))}
      {Object.entries(lines).map(([name, value]) => (
        <g class="level">
          <line x1={LEFT} x2={width - right} y1={toY(value)} y2={toY(value)} />
          <text x={LEFT + 5} y={toY(value) - 4}>
            {name}
          </text>
        </g>
      ))}
      {!narrow.value && (
        <EndLabels
          ends={agents.map((agent) => {
            const last = agent.steps.length - 1;
            return { look: agent, x: toX(agent[x][last]), y: toY(agent.median[last]) };
          })}
          edge={width - right}
          bottom={height - BOTTOM}
        />
      )}
      {picked && (at > 0 || !logX) && (
        <g style={{ color: inkOf(picked.colour) }}>
          <line
            class="interval"
            x1={toX(picked[x][at])}
            x2={toX(picked[x][at])}
            y1={toY(picked.low[at])}
            y2={toY(picked.high[at])}
          />
          <circle class="dot" cx={toX(picked[x][at])} cy={toY(picked.median[at])} r="6" />
        </g>
      )}
    </svg>
  );
}

// An axis from the smallest positive value, or from 0 if it is linear, to the largest value.
function axis(values: number[], logarithmic: boolean): Axis {
  if (logarithmic) return logAxis(values, false);
  const largest = Math.max(...values) || 1;
  return { at: (value) => value / largest, ticks: evenTicks(0, largest, MOST_TICKS) };
}

export function values({ median, low, high }: Agent, at: number): string {
  return `${shown(median[at])} (${shown(low[at])} to ${shown(high[at])})`;
}
