// Sums over the states of each afterstate: of visits, of costs, and of numbers weighted by the chances of the rolls.

import { chanceOf, type Game, type Player } from "../data/game";
import type { Mistake } from "./judging";

export function visitsOfAfterstates(game: Game, visits: Float64Array): Float64Array {
  const sums = new Float64Array(game.afterstates.length);
  visits.forEach((often, state) => (sums[game.stateOrigin[state]] += often));
  return sums;
}

export function expectedOfAfterstates(game: Game, atStates: (state: number) => number): Float64Array {
  const sums = new Float64Array(game.afterstates.length);
  for (let state = 0; state < game.stateOrigin.length; state++)
    sums[game.stateOrigin[state]] += chanceOf(game, state) * atStates(state);
  return sums;
}

export function costsOfAfterstates(game: Game, mistakes: Mistake[]): Float64Array {
  const sums = new Float64Array(game.afterstates.length);
  for (const { state, cost } of mistakes) sums[game.stateOrigin[state]] += cost;
  return sums;
}

// Return the function from a state to the probability that two players move differently, for the most similar sampling.
export function differ(game: Game, one: Player, other: Player): (state: number) => number {
  const chance = (player: Player, pair: number, state: number) =>
    player.pairs ? Number(player.pairs[state] === pair) : player.chances![pair];
  return (state) => {
    let same = 0;
    for (let pair = game.pairStart[state]; pair < game.pairStart[state + 1]; pair++) {
      same += Math.min(chance(one, pair, state), chance(other, pair, state));
    }
    return game.pairStart[state] === game.pairStart[state + 1] ? 0 : 1 - same;
  };
}
