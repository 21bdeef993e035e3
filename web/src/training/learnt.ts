// When a mistake was made for the last time.

import type { Game, Run } from "../data/game";
import type { Solved } from "../exact/solved";
import { lossOf } from "../exact/sweep";

// The steps after which a training never lost anything at a node any more; null if it still does at its end.
export function learnt(game: Game, { values }: Solved, run: Run, node: number): number | null {
  const right = (measurement: number) => {
    const edge = run.player(measurement).edges![node];
    return edge >= 0 && lossOf(game, values, edge, node) === 0;
  };
  let since = run.steps.length;
  while (since > 0 && right(since - 1)) since--;
  return run.steps[since] ?? null;
}
