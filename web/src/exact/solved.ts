// Perfect play for a goal, and everything that is shown of it.

import type { Game, Player } from "../data/game";
import { perfectPlace, utilityOf, type Goal } from "./goals";
import { expected, perfect, solve, type Values } from "./sweep";

export interface Solved {
  goal: Goal;
  values: Values;
  perfect: Player;
  perfection: Float64Array; // the chance of the perfect score at every afterstate, if one plays so
}

export function solveFor(game: Game, goal: Goal): Solved {
  const values = solve(game, utilityOf(game, goal));
  const player = perfect(game, values);
  const reached = utilityOf(game, { kind: "reach", place: perfectPlace(game) });
  return { goal, values, perfect: player, perfection: expected(game, player, reached).afterstate };
}
