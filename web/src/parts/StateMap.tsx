// All positions before a throw as small squares, a column for every score, the most visited ones lowest. It is a slider
// for the keyboard and for those who hear it: arrows lead to the next position, and its words are read.

import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Game } from "../data/game";
import { useSession } from "../session";
import { dark, narrow } from "./screen";

const [MOST_HEIGHT, MOST_CELL, GAP] = [520, 24, 0.12];

interface Props {
  label: string;
  strength: Float64Array; // by state, from 0 (pale) to 1
  colour: string; // a CSS variable
  order: Float64Array; // by state: the greatest lie lowest
  selected: number;
  select: (state: number) => void;
  says: (state: number) => string;
}

interface Layout {
  columns: number[][]; // states by column, the lowest first
  place: Map<number, [number, number]>; // column and row of a state
  rows: number;
}

export function StateMap({ label, strength, colour, order, selected, select, says }: Props) {
  const { game } = useSession();
  const canvas = useRef<HTMLCanvasElement>(null);
  const layout = useMemo(() => layoutOf(game, order), [game, order]);
  const width = narrow.value ? 350 : 720;
  const cell = Math.min(width / layout.columns.length, MOST_HEIGHT / layout.rows, MOST_CELL);
  const size = [Math.ceil(cell * layout.columns.length), Math.ceil(cell * layout.rows)];
  const inDark = dark.value;
  useEffect(
    () => draw(canvas.current!, layout, cell, strength, colour, selected),
    [layout, cell, strength, colour, selected, inDark],
  );
  const stateAt = (event: MouseEvent): number | undefined => {
    const box = canvas.current!.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * layout.columns.length);
    const row = Math.floor(((box.bottom - event.clientY) / box.height) * layout.rows);
    return layout.columns[column]?.[row];
  };
  const step = (event: KeyboardEvent) => {
    const [column, row] = layout.place.get(selected) ?? [0, 0];
    const to = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!to) return;
    event.preventDefault();
    const state = toward(layout, column, row, to[0], to[1]);
    if (state !== undefined) select(state);
  };
  return (
    <div
      class="map"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={game.states.length - 1}
      aria-valuenow={selected}
      aria-valuetext={says(selected)}
      onKeyDown={step}
    >
      <canvas
        ref={canvas}
        style={{ width: `${size[0]}px`, aspectRatio: `${size[0]} / ${size[1]}` }}
        onClick={(event) => {
          const state = stateAt(event);
          if (state !== undefined) select(state);
        }}
      />
      <div class="scale" style={{ width: `${size[0]}px` }} aria-hidden="true">
        <span>{game.points[0]}</span>
        <span>{game.points.at(-1)}</span>
      </div>
    </div>
  );
}

function layoutOf(game: Game, order: Float64Array): Layout {
  const columns: number[][] = game.scores.map(() => []);
  game.states.forEach((_, state) => {
    if (!game.over[state]) columns[game.score[state]].push(state);
  });
  const place = new Map<number, [number, number]>();
  columns.forEach((column, at) => {
    column.sort((one, other) => order[other] - order[one] || one - other);
    column.forEach((state, row) => place.set(state, [at, row]));
  });
  return { columns, place, rows: Math.max(...columns.map((column) => column.length)) };
}

// The next position in a direction; columns without one that high are taken at their top, empty ones passed over.
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
  colour: string,
  selected: number,
): void {
  const pixels = cell * devicePixelRatio;
  canvas.width = Math.ceil(pixels * layout.columns.length);
  canvas.height = Math.ceil(pixels * layout.rows);
  const pen = canvas.getContext("2d")!;
  const [strong, pale, ink] = [colour, "--line", "--ink"].map((name) => resolved(canvas, name));
  const side = pixels * (1 - GAP);
  for (const [state, [column, row]] of layout.place) {
    const [x, y] = [column * pixels, canvas.height - (row + 1) * pixels];
    pen.globalAlpha = 1;
    pen.fillStyle = pale;
    pen.fillRect(x, y, side, side);
    pen.globalAlpha = strength[state];
    pen.fillStyle = strong;
    pen.fillRect(x, y, side, side);
    if (state === selected) {
      pen.globalAlpha = 1;
      pen.strokeStyle = ink;
      pen.lineWidth = 2 * devicePixelRatio;
      pen.strokeRect(x, y, side, side);
    }
  }
}

// The colour that a CSS variable stands for, light or dark, as a canvas understands it.
function resolved(canvas: HTMLCanvasElement, name: string): string {
  canvas.style.color = `var(${name})`;
  return getComputedStyle(canvas).color;
}
