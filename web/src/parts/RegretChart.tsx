// A chart of the regret of trainings by steps, with logarithmic axes, a line for each training, and a cursor.

import type { Look } from "../data/game";
import { inkOf } from "./Badge";
import { EndLabels } from "./EndLabels";
import { clamped } from "../exact/goals";
import { countShown, logAxis, tickShown } from "./scales";
import { narrow } from "./screen";

const [HEIGHT, LEFT, TOP, BOTTOM] = [280, 60, 26, 44];
const [RIGHT, FOR_LABELS] = [20, 290]; // without and with labels at the ends of the lines

export interface Line extends Look {
  steps: number[];
  regret: number[];
}

interface Props {
  room: number; // the width in pixels on a wide screen
  lines: Line[];
  cursor?: number; // a number of steps
  pick?: (steps: number) => void; // called when the visitor points at the chart
  levels?: { words: string; regret: number }[]; // horizontal lines
  counted: string; // the name of the steps
  unit: string; // of the regret
}

export function RegretChart({ room, lines, cursor, pick, levels = [], counted, unit }: Props) {
  const [width, right] = narrow.value ? [360, RIGHT] : [room, FOR_LABELS];
  const across = logAxis(
    lines.flatMap(({ steps }) => steps),
    false,
  );
  const up = logAxis([...lines.flatMap(({ regret }) => regret), ...levels.map(({ regret }) => regret)], true);
  const x = (steps: number) => LEFT + across.at(steps) * (width - LEFT - right);
  const y = (regret: number) => HEIGHT - BOTTOM - up.at(regret) * (HEIGHT - TOP - BOTTOM);
  const left = (level: number) => lines.every(({ regret: [first] }) => first > 4 * level); // no line begins near it
  const says = lines.map(({ name, steps, regret }) => {
    const at = latest(steps, cursor);
    return `${name} loses ${regretShown(regret[at])} after ${countShown(steps[at])} ${counted}`;
  });
  const measured = [...new Set(lines.flatMap(({ steps }) => steps))].sort((one, other) => one - other);
  const point = (event: PointerEvent) => {
    if (!pick || (event.type === "pointermove" && !event.buttons)) return;
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const pointed = ((event.clientX - box.left) / box.width) * width;
    pick(measured[latest(measured.map(x), pointed)]);
  };
  const nearest = (place: number) =>
    measured.reduce((best, step) =>
      Math.abs(across.at(step) - place) < Math.abs(across.at(best) - place) ? step : best,
    );
  // The arrow keys go from measurement to measurement, wherever they are on the axis.
  const go = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (!by || !pick) return;
    event.preventDefault();
    pick(measured[clamped(0, latest(measured, cursor) + by, measured.length - 1)]);
  };
  const chart = (
    <svg
      class={pick ? "chart picking" : "chart"}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      role="img"
      aria-label={`Regret by ${counted}. ${says.join("; ")}`}
      onPointerDown={point}
      onPointerMove={point}
    >
      <text x="2" y="12">
        regret ({unit})
      </text>
      {up.ticks.map((regret) => (
        <g class="tick">
          <line x1={LEFT} x2={width - right} y1={y(regret)} y2={y(regret)} />
          <text x={LEFT - 8} y={y(regret) + 4} text-anchor="end">
            {tickShown(regret)}
          </text>
        </g>
      ))}
      {across.ticks.map((steps) => (
        <g class="tick across">
          <line x1={x(steps)} x2={x(steps)} y1={HEIGHT - BOTTOM} y2={HEIGHT - BOTTOM + 5} />
          <text x={x(steps)} y={HEIGHT - BOTTOM + 19} text-anchor="middle">
            {countShown(steps)}
          </text>
        </g>
      ))}
      <text x={(LEFT + width - right) / 2} y={HEIGHT - 4} text-anchor="middle">
        {counted}
      </text>
      {lines.map(({ steps, regret, colour, dashes }) => (
        <polyline
          class="line"
          style={{ color: inkOf(colour) }}
          points={steps.map((step, at) => `${x(step)},${y(regret[at])}`).join(" ")}
          stroke-dasharray={dashes.map((length) => 2 * length).join(" ")}
        />
      ))}
      {levels.map(({ words, regret }) => (
        <g class="level">
          <line x1={LEFT} x2={width - right} y1={y(regret)} y2={y(regret)} />
          <text
            x={left(regret) ? LEFT + 6 : width - right}
            y={y(regret) - 5}
            text-anchor={left(regret) ? "start" : "end"}
          >
            {words}
          </text>
        </g>
      ))}
      {!narrow.value && (
        <EndLabels
          ends={lines.map((look) => ({ look, x: x(look.steps.at(-1)!), y: y(look.regret.at(-1)!) }))}
          edge={width - right}
          bottom={HEIGHT - BOTTOM}
        />
      )}
      {cursor !== undefined && <line class="cursor" x1={x(cursor)} x2={x(cursor)} y1={TOP} y2={HEIGHT - BOTTOM} />}
      {lines.map(({ steps, regret, colour }) => {
        const at = latest(steps, cursor);
        return <circle class="dot" style={{ color: inkOf(colour) }} cx={x(steps[at])} cy={y(regret[at])} r="5" />;
      })}
    </svg>
  );
  if (!pick || cursor === undefined) return chart;
  return (
    <>
      {chart}
      <input
        class="on-axis"
        type="range"
        aria-label="when"
        aria-valuetext={`after ${countShown(cursor)} ${counted}`}
        min="0"
        max="1"
        step="any"
        value={across.at(cursor)}
        style={{ "--left": LEFT / width, "--right": right / width }}
        onInput={(event) => pick(nearest(Number(event.currentTarget.value)))}
        onKeyDown={go}
      />
    </>
  );
}

// Return the index of the last measurement at or before a number of steps; 0 if there is none.
export function latest(steps: number[], cursor = Infinity): number {
  return Math.max(0, steps.filter((step) => step <= cursor).length - 1);
}

export function regretShown(regret: number): string {
  return regret === 0 ? "0" : regret.toPrecision(3);
}
