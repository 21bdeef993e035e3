// All positions before a throw as small squares, with a column for every score and the most visited ones at the bottom.
// For keyboards and screen readers it is a slider: arrow keys select the next position, and its text is read aloud.
// Buttons do the same as the arrow keys, for fingers that are larger than a square.

import { useEffect, useMemo, useRef } from "preact/hooks";
import { link } from "../address";
import type { Game } from "../data/game";
import { positionToWords } from "../data/positions";
import { goalToWords, type Goal } from "../exact/goals";
import { useSession } from "../session";
import { evenTicks } from "./scales";
import { dark, forced, narrow } from "./screen";

const [MOST_HEIGHT, MOST_CELL, GAP] = [620, 26, 0.12];
const NONE: number[] = [];
const ARROWS: Record<string, [words: string, sign: string, right: number, up: number]> = {
  ArrowLeft: ["left", "←", -1, 0],
  ArrowDown: ["down", "↓", 0, -1],
  ArrowUp: ["up", "↑", 0, 1],
  ArrowRight: ["right", "→", 1, 0],
};

interface Props {
  label: string;
  width: number; // in pixels on a wide screen
  strength: Float64Array; // of the colour of each afterstate, from 0 to 1; NaN is pale, less than 0 of another hue
  hue: string; // in the style sheet: value, often, lost or sweep
  order: Float64Array; // by afterstate; the largest numbers are at the bottom
  selected: number;
  marked?: number[]; // have a frame, too
  select: (afterstate: number) => void;
  says: (afterstate: number) => string;
  goal: Goal; // of the link to the analysis
}

interface Layout {
  first: number; // the index of the score of the first column
  columns: number[][]; // the afterstates of each column from bottom to top
  cellOf: Map<number, [number, number]>; // the column and the row of each afterstate
  rows: number;
}

export function AfterstateMap({
  label,
  width,
  strength,
  hue,
  order,
  selected,
  marked = NONE,
  select,
  says,
  goal,
}: Props) {
  const { game } = useSession();
  const canvas = useRef<HTMLCanvasElement>(null);
  const layout = useMemo(() => layoutOf(game, order), [game, order]);
  const { columns, rows } = layout;
  const cell = Math.min((narrow.value ? 324 : width) / columns.length, MOST_HEIGHT / rows, MOST_CELL);
  const scheme = `${dark.value} ${forced.value}`;
  useEffect(
    () => draw(canvas.current!, layout, cell, strength, hue, selected, marked),
    [layout, cell, strength, hue, selected, marked, scheme],
  );
  const afterstateAt = (event: MouseEvent): number | undefined => {
    const box = canvas.current!.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * columns.length);
    const row = Math.floor(((box.bottom - event.clientY) / box.height) * rows);
    return columns[column]?.[row];
  };
  const beside = (right: number, up: number) => toward(layout, ...layout.cellOf.get(selected)!, right, up);
  const step = (event: KeyboardEvent) => {
    if (!Object.hasOwn(ARROWS, event.key)) return;
    event.preventDefault();
    const [, , right, up] = ARROWS[event.key];
    const afterstate = beside(right, up);
    if (afterstate !== undefined) select(afterstate);
  };
  const scores = columns.map((_, column) => game.scores[layout.first + column]);
  const ticks = evenTicks(Math.min(...scores), Math.max(...scores), narrow.value ? 5 : 10);
  return (
    <div class="map">
      <p class="axis">↑ met less often in perfect play</p>
      <div
        class="area"
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={game.afterstates.length - 1}
        aria-valuenow={selected}
        aria-valuetext={`${game.afterstates[selected]}: ${says(selected)}`}
        onKeyDown={step}
        style={{ maxWidth: `${cell * columns.length}px` }}
      >
        <canvas
          ref={canvas}
          style={{ aspectRatio: `${columns.length} / ${rows}` }}
          onClick={(event) => {
            const afterstate = afterstateAt(event);
            if (afterstate !== undefined) select(afterstate);
          }}
        />
        <div class="ticks">
          {ticks
            .filter((score) => scores.includes(score))
            .map((score) => (
              <span style={{ left: `${(100 * (scores.indexOf(score) + 0.5)) / scores.length}%` }}>{score}</span>
            ))}
        </div>
      </div>
      <p class="axis below">points so far →</p>
      <div class="picked">
        <div class="arrows" role="group" aria-label="to the next position">
          {Object.values(ARROWS).map(([words, sign, right, up]) => {
            const afterstate = beside(right, up);
            return (
              <button
                class="plain"
                aria-label={words}
                disabled={afterstate === undefined}
                onClick={() => select(afterstate!)}
              >
                {sign}
              </button>
            );
          })}
        </div>
        <p aria-live="polite">
          <b>{game.afterstates[selected]}</b> {says(selected)}{" "}
          <a
            href={link("board", {
              ...positionToWords(game, { afterstate: selected, roll: null }),
              ...goalToWords(game, goal),
            })}
          >
            look at it
          </a>
        </p>
      </div>
    </div>
  );
}

function layoutOf(game: Game, order: Float64Array): Layout {
  const all: number[][] = game.scores.map(() => []);
  game.afterstates.forEach((_, afterstate) => {
    if (!game.over[afterstate]) all[game.scoreIndex[afterstate]].push(afterstate);
  });
  const filled = all.flatMap((column, at) => (column.length ? [at] : []));
  const columns = all.slice(filled[0], filled.at(-1)! + 1);
  const cellOf = new Map<number, [number, number]>();
  columns.forEach((column, at) => {
    column.sort((one, other) => order[other] - order[one] || one - other);
    column.forEach((afterstate, row) => cellOf.set(afterstate, [at, row]));
  });
  return { first: filled[0], columns, cellOf, rows: Math.max(...columns.map((column) => column.length)) };
}

// Return the next position in a direction. Empty columns are skipped; in lower ones the top position is next.
function toward({ columns }: Layout, column: number, row: number, right: number, up: number): number | undefined {
  if (up) return columns[column][row + up];
  for (let at = column + right; columns[at]; at += right) {
    if (columns[at].length) return columns[at][Math.min(row, columns[at].length - 1)];
  }
  return undefined;
}

function draw(
  canvas: HTMLCanvasElement,
  layout: Layout,
  cell: number,
  strength: Float64Array,
  hue: string,
  selected: number,
  marked: number[],
): void {
  const pixels = cell * devicePixelRatio;
  canvas.width = Math.ceil(pixels * layout.columns.length);
  canvas.height = Math.ceil(pixels * layout.rows);
  const pen = canvas.getContext("2d")!;
  const ramps = [hue, "under"].flatMap((each) => [`--${each}-weak`, `--${each}-strong`]);
  const [none, card, ink, ...ends] = ["--map-none", "--card", "--ink", ...ramps].map((name) => resolved(canvas, name));
  const side = pixels * (1 - GAP);
  for (const [afterstate, [column, row]] of layout.cellOf) {
    const [x, y] = [column * pixels + (pixels - side) / 2, canvas.height - (row + 1) * pixels + (pixels - side) / 2];
    const [weak, strong] = strength[afterstate] < 0 ? ends.slice(2) : ends;
    pen.globalAlpha = 1;
    pen.fillStyle = Number.isNaN(strength[afterstate]) ? none : weak;
    pen.fillRect(x, y, side, side);
    pen.globalAlpha = Math.abs(strength[afterstate] || 0);
    pen.fillStyle = strong;
    pen.fillRect(x, y, side, side);
    pen.globalAlpha = 1;
    if (afterstate !== selected && !marked.includes(afterstate)) continue;
    const thick = afterstate === selected ? 1 : 0.6;
    for (const [style, width] of [
      [card, thick * Math.min(5, cell / 2)],
      [ink, thick * Math.min(2.5, cell / 4)],
    ] as const) {
      pen.strokeStyle = style;
      pen.lineWidth = width * devicePixelRatio;
      pen.strokeRect(x, y, side, side);
    }
  }
}

// Return the colour of a CSS variable in the current scheme, in a form that a canvas accepts.
function resolved(canvas: HTMLCanvasElement, name: string): string {
  canvas.style.color = `var(${name})`;
  return getComputedStyle(canvas).color;
}
