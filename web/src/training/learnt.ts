// The measurement after which a training makes a mistake no more.

import type { Game, Run } from "../data/game";
import type { Solved } from "../exact/solved";
import { lossOf } from "../exact/sweep";

// Return the steps from which on a training loses nothing at a state; null if it loses something at the end.
export function learnt(game: Game, { values }: Solved, run: Run, state: number): number | null {
  const right = (measurement: number) => {
    const pair = run.player(measurement).pairs![state];
    return pair >= 0 && lossOf(game, values, pair, state) === 0;
  };
  let since = run.steps.length;
  while (since > 0 && right(since - 1)) since--;
  return run.steps[since] ?? null;
}
