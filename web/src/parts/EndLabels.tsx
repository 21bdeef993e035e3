// The names of lines at their ends, beside the plot.

import type { Look } from "../data/game";
import { inkOf } from "./Badge";
import { apart } from "./scales";

const GAP = 14; // between two labels
const LEADER = 14; // from a line to its label

export interface End {
  look: Look;
  x: number; // of the last point, as y
  y: number;
}

export function EndLabels({ ends, edge, bottom }: { ends: End[]; edge: number; bottom: number }) {
  const places = apart(
    ends.map(({ y }) => y),
    GAP,
    bottom,
  );
  return (
    <g class="ends">
      {ends.map(({ look, x, y }, at) => (
        <g style={{ color: inkOf(look.colour) }}>
          <polyline points={`${x},${y} ${edge},${y} ${edge + LEADER},${places[at]}`} />
          <text x={edge + LEADER + 3} y={places[at] + 4}>
            {look.name}
          </text>
        </g>
      ))}
    </g>
  );
}
