// Learning curves with their intervals; the picked point of one of them is marked.

import { inkOf } from "../parts/Badge";
import { narrow } from "../parts/screen";
import { countShown, evenTicks, logAxis, tickShown, type Axis } from "../parts/scales";
import { shown, type Agent } from "./data";

const [LEFT, RIGHT, TOP, BOTTOM] = [58, 12, 10, 40];
const MOST_TICKS = 6; // of an axis that is not logarithmic
const MARGIN = 1.1; // of the y axis above the greatest value

interface Asked {
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

export function Chart({ agents, lines, unit, x, logX, logY, picked, at, pick }: Asked) {
  const [width, height] = narrow.value ? [364, 320] : [740, 620];
  const drawn = (agent: Agent) =>
    agent.steps.map((_, place) => place).filter((place) => agent.steps[place] > 0 || !logX);
  const means = [...agents.flatMap((agent) => drawn(agent).map((place) => agent.mean[place])), ...Object.values(lines)];
  const across = axis(
    agents.flatMap((agent) => drawn(agent).map((place) => agent[x][place])),
    logX,
  );
  const up = axis([...means, MARGIN * Math.max(...means)], logY);
  const toX = (value: number) => LEFT + across.at(value) * (width - LEFT - RIGHT);
  const toY = (value: number) => height - BOTTOM - Math.min(1, Math.max(0, up.at(value))) * (height - TOP - BOTTOM);
  const points = (agent: Agent, values: number[], places = drawn(agent)) =>
    places.map((place) => `${toX(agent[x][place]).toFixed(1)},${toY(values[place]).toFixed(1)}`);
  const pickNearest = (event: PointerEvent & { currentTarget: SVGSVGElement }) => {
    const box = event.currentTarget.getBoundingClientRect();
    const [left, top] = [event.clientX - box.left, event.clientY - box.top].map((at) => (at * width) / box.width);
    const distance = ([agent, place]: [Agent, number]) =>
      Math.hypot(toX(agent[x][place]) - left, toY(agent.mean[place]) - top);
    const all = agents.flatMap((agent) => drawn(agent).map((place): [Agent, number] => [agent, place]));
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
          <line x1={LEFT} x2={width - RIGHT} y1={toY(value)} y2={toY(value)} />
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
      <text x={width - RIGHT} y={height - 6} text-anchor="end">
        {x === "steps" ? "steps" : "processor minutes"}
      </text>
      <text x={0} y={height - 6}>
        {unit}
      </text>
      {agents.map((agent) => (
        <g style={{ color: inkOf(agent.colour) }} class={agent === picked ? "picked" : undefined}>
          <polygon
            points={[...points(agent, agent.low), ...points(agent, agent.high, drawn(agent).reverse())].join(" ")}
          />
          <polyline
            class="line"
            points={points(agent, agent.mean).join(" ")}
            stroke-dasharray={agent.dashes.map((length) => 2 * length).join(" ")}
          />
        </g>
      ))}
      {Object.entries(lines).map(([name, value]) => (
        <g class="level">
          <line x1={LEFT} x2={width - RIGHT} y1={toY(value)} y2={toY(value)} />
          <text x={LEFT + 5} y={toY(value) - 4}>
            {name}
          </text>
        </g>
      ))}
      {picked && (at > 0 || !logX) && (
        <g style={{ color: inkOf(picked.colour) }}>
          <line
            class="interval"
            x1={toX(picked[x][at])}
            x2={toX(picked[x][at])}
            y1={toY(picked.low[at])}
            y2={toY(picked.high[at])}
          />
          <circle class="dot" cx={toX(picked[x][at])} cy={toY(picked.mean[at])} r="6" />
        </g>
      )}
    </svg>
  );
}

// From the least positive value, or from 0, to the greatest value.
function axis(values: number[], logarithmic: boolean): Axis {
  if (logarithmic) return logAxis(values, false);
  const most = Math.max(...values) || 1;
  return { at: (value) => value / most, ticks: evenTicks(0, most, MOST_TICKS) };
}

export function values({ mean, low, high }: Agent, at: number): string {
  return `${shown(mean[at])} (${shown(low[at])} to ${shown(high[at])})`;
}
