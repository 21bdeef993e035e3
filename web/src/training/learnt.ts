// When a mistake was made for the last time.

import type { Game, Run } from "../data/game";
import type { Solved } from "../exact/solved";
import { lossOf } from "../exact/sweep";

// The steps after which a training never lost anything at a state any more; null if it still does at its end.
export function learnt(game: Game, { values }: Solved, run: Run, state: number): number | null {
  const right = (measurement: number) => {
    const pair = run.player(measurement).pairs![state];
    return pair >= 0 && lossOf(game, values, pair, state) === 0;
  };
  let since = run.steps.length;
  while (since > 0 && right(since - 1)) since--;
  return run.steps[since] ?? null;
}
