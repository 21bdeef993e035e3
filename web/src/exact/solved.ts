// Perfect play for a goal, with its values.

import type { Game, Player } from "../data/game";
import { perfectIndex, utilityOf, type Goal } from "./goals";
import { expected, perfect, solve, type Values } from "./sweep";

export interface Solved {
  goal: Goal;
  values: Values;
  perfect: Player;
  perfection: Float64Array; // the chance that perfect play reaches the perfect score, by afterstate
}

export function solveFor(game: Game, goal: Goal): Solved {
  const values = solve(game, utilityOf(game, goal));
  const player = perfect(game, values);
  const reached = utilityOf(game, { kind: "reach", index: perfectIndex(game) });
  return { goal, values, perfect: player, perfection: expected(game, player, reached).afterstate };
}
