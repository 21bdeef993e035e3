// Random play, and the best reply to the values of a player.

import { pairsOf, type Game, type Player } from "../data/game";

export function randomPlayer(game: Game): Player {
  const chances = new Float64Array(game.next.length);
  for (let state = 0; state < game.stateOrigin.length; state++) {
    const pairs = pairsOf(game, state);
    for (const pair of pairs) chances[pair] = 1 / pairs.length;
  }
  return { name: "random play", how: "", colour: "", dashes: [], chances };
}

// Return the player that makes the move to the largest of these values of afterstates, the first of equal ones.
export function greedyPlayer(game: Game, name: string, values: Float64Array): Player {
  const pairs = Int32Array.from(game.stateOrigin, (_, state) =>
    pairsOf(game, state).reduce(
      (best, pair) => (best < 0 || values[game.next[pair]] > values[game.next[best]] ? pair : best),
      -1,
    ),
  );
  return { name, how: "", colour: "", dashes: [], pairs };
}
