// The value of a game over time: a bar for every throw and choice, from the value before to the value after it.

import type { Event } from "./events";
import { shown, signed, type Goal } from "../exact/goals";
import { useSession } from "../session";
import { narrow } from "../parts/screen";

const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [250, 56, 10, 12, 26];

export function AccountChart({ events, goal }: { events: Event[]; goal: Goal }) {
  const { game } = useSession();
  const width = narrow.value ? 360 : 640;
  const values = events.flatMap(({ before, after }) => [before, after]);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = (high - low) * 0.06 || 1;
  const y = (value: number) => TOP + ((high + room - value) / (high - low + 2 * room)) * (HEIGHT - TOP - BOTTOM);
  const slot = (width - LEFT - RIGHT) / events.length;
  const ticks = ticksBetween(low, high);
  const says = events.map(({ kind, words, before, after }) => `${words}: ${kind} ${signed(goal, after - before)}`);
  return (
    <svg
      class="chart"
      viewBox={`0 0 ${width} ${HEIGHT}`}
      role="img"
      aria-label={`What the game was worth. ${says.join("; ")}`}
    >
      {ticks.map((value) => (
        <g class="tick">
          <line x1={LEFT} x2={width - RIGHT} y1={y(value)} y2={y(value)} />
          <text x={LEFT - 8} y={y(value) + 4} text-anchor="end">
            {shown(game, goal, value).replace(/\.?0+(?=%?$)/, "")}
          </text>
        </g>
      ))}
      {events.map(({ kind, before, after }, at) => {
        const x = LEFT + at * slot;
        return (
          <g>
            <title>{says[at]}</title>
            <rect
              class={kind}
              x={x + slot * 0.12}
              width={slot * 0.76}
              y={Math.min(y(before), y(after)) - 1}
              height={Math.abs(y(before) - y(after)) + 2}
              rx="2"
            />
            {at + 1 < events.length && (
              <line class="join" x1={x + slot * 0.88} x2={x + slot * 1.12} y1={y(after)} y2={y(after)} />
            )}
          </g>
        );
      })}
      <text class="axis" x={LEFT} y={HEIGHT - 6}>
        the game from left to right; up is good
      </text>
    </svg>
  );
}

// Return about five round numbers between two numbers.
function ticksBetween(low: number, high: number): number[] {
  const rough = Math.max((high - low) / 5, 0.001); // labels show three decimal places
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= 0.7 * rough)!;
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, at) => (first + at) * step);
}
