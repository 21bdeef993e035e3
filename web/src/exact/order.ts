// The order of the sweep of dynamic programming, in steps of one column of the map each.

import type { Game } from "../data/game";

// Return the unfinished afterstates of each step. All moves of a step lead to earlier steps or within the step.
export function sweepOrder(game: Game): number[][] {
  const columns: number[][] = game.scores.map(() => []);
  const unfinished = game.afterstates.map((_, afterstate) => afterstate).filter((afterstate) => !game.over[afterstate]);
  for (const afterstate of unfinished) columns[game.scoreIndex[afterstate]].push(afterstate);
  const filled = columns.filter((column) => column.length > 0);
  const ways = waysOf(game);
  if (ways.size < 2) return ways.has(1) ? filled.reverse() : filled;
  const each = Math.ceil(unfinished.length / filled.length); // moves lead both ways: take the order of the afterstates
  return filled.map((_, step) => unfinished.slice(step * each, (step + 1) * each)).filter((step) => step.length > 0);
}

// Return the directions of the moves on the map: -1 to columns on the left, 1 to columns on the right.
export function waysOf(game: Game): Set<number> {
  const ways = new Set<number>();
  for (let state = 0; state < game.stateOrigin.length; state++) {
    const from = game.scoreIndex[game.stateOrigin[state]];
    for (let pair = game.pairStart[state]; pair < game.pairStart[state + 1]; pair++) {
      const way = Math.sign(game.scoreIndex[game.next[pair]] - from);
      if (way !== 0) ways.add(way);
    }
  }
  return ways;
}
