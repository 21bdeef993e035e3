// Backward induction: perfect play, and the values, visits and losses of a player, as in `stb_gym.solver`.

import { chanceOf, pairsOf, rollsAt, stateOf, type Game, type Player } from "../data/game";

// The relative difference up to which utilities count as equal, as in `stb_gym.solver.TIE`.
const TIE = 1e-10;

export interface Values {
  utility: Float64Array; // by final score
  afterstate: Float64Array; // expected utility of every afterstate, before its throw
  state: Float64Array; // expected utility of every state, before its choice
  scale: number; // the largest absolute utility if utilities have both signs, else 0
}

// Returns the value of a state whose pairs go from `first` to before `last`, given the values of earlier afterstates.
type Choose = (afterstateValues: Float64Array, state: number, first: number, last: number) => number;

// Compute the values of all afterstates and states.
function sweep(game: Game, utility: Float64Array, choose: Choose): Values {
  const afterstateValues = new Float64Array(game.dice.length);
  const stateValues = new Float64Array(game.stateOrigin.length);
  for (let afterstate = 0; afterstate < game.dice.length; afterstate++) {
    const { counts, total } = rollsAt(game, afterstate);
    let sum = 0;
    for (let roll = 0; roll < counts.length; roll++) {
      const state = stateOf(game, afterstate, roll);
      const [first, last] = [game.pairStart[state], game.pairStart[state + 1]];
      stateValues[state] =
        first === last ? utility[game.scoreIndex[afterstate]] : choose(afterstateValues, state, first, last);
      sum += counts[roll] * stateValues[state];
    }
    afterstateValues[afterstate] = sum / total;
  }
  const [low, high] = [Math.min(...utility), Math.max(...utility)];
  const scale = low < 0 && high > 0 ? Math.max(-low, high) : 0;
  return { utility, afterstate: afterstateValues, state: stateValues, scale };
}

export function solve(game: Game, utility: Float64Array): Values {
  return sweep(game, utility, (afterstateValues, _, first, last) => {
    let best = -Infinity;
    for (let pair = first; pair < last; pair++) best = Math.max(best, afterstateValues[game.next[pair]]);
    return best;
  });
}

// Compute the expected utility of a player at all afterstates and states.
export function expected(game: Game, player: Player, utility: Float64Array): Values {
  const worst = Math.min(...utility);
  return sweep(game, utility, (afterstateValues, state, first, last) => {
    if (player.pairs) return player.pairs[state] < 0 ? worst : afterstateValues[game.next[player.pairs[state]]];
    let sum = 0;
    for (let pair = first; pair < last; pair++) sum += player.chances![pair] * afterstateValues[game.next[pair]];
    return sum;
  });
}

// Compute the expected number of visits of a turn to every state.
export function visits(game: Game, player: Player): Float64Array {
  const reached = new Float64Array(game.dice.length);
  const visited = new Float64Array(game.stateOrigin.length);
  reached[game.start] = 1;
  for (let afterstate = reached.length - 1; afterstate >= 0; afterstate--) {
    if (!reached[afterstate]) continue;
    for (let state = game.stateStart[afterstate]; state < game.stateStart[afterstate + 1]; state++) {
      visited[state] = reached[afterstate] * chanceOf(game, state);
      if (player.pairs) {
        if (player.pairs[state] >= 0) reached[game.next[player.pairs[state]]] += visited[state];
      } else {
        for (let pair = game.pairStart[state]; pair < game.pairStart[state + 1]; pair++) {
          reached[game.next[pair]] += visited[state] * player.chances![pair];
        }
      }
    }
  }
  return visited;
}

// Compute what the player's choice at every state loses against the best one, with perfect play afterwards.
export function losses(game: Game, values: Values, { pairs, chances }: Player): Float64Array {
  const worst = Math.min(...values.utility);
  const lost = new Float64Array(values.state.length);
  for (let state = 0; state < lost.length; state++) {
    const [first, last] = [game.pairStart[state], game.pairStart[state + 1]];
    if (first === last) continue;
    if (pairs) lost[state] = pairs[state] < 0 ? values.state[state] - worst : lossOf(game, values, pairs[state], state);
    else for (let pair = first; pair < last; pair++) lost[state] += chances![pair] * lossOf(game, values, pair, state);
  }
  return lost;
}

export function lossOf(game: Game, values: Values, pair: number, state: number): number {
  const lost = values.state[state] - values.afterstate[game.next[pair]];
  return Math.abs(lost) <= TIE * (values.scale || Math.abs(values.state[state])) ? 0 : lost;
}

// Return the player that makes the first of the optimal moves at every state.
export function perfect(game: Game, values: Values): Player {
  const pairs = new Int32Array(values.state.length).fill(-1);
  for (let state = 0; state < pairs.length; state++) {
    let pair = game.pairStart[state];
    if (pair === game.pairStart[state + 1]) continue;
    while (lossOf(game, values, pair, state) !== 0) pair++;
    pairs[state] = pair;
  }
  return { ...game.optimum, how: "perfect play for what is wanted", pairs };
}

// Compute the probabilities of all final scores of a player's turn, the best score first.
export function scoreChances(game: Game, visited: Float64Array): Float64Array {
  const chances = new Float64Array(game.scores.length);
  visited.forEach((often, state) => {
    if (game.pairStart[state] === game.pairStart[state + 1]) chances[game.scoreIndex[game.stateOrigin[state]]] += often;
  });
  return chances;
}

// Return the pairs of a player at a state with their probabilities.
export function playedAt(game: Game, player: Player, state: number): Map<number, number> {
  if (player.pairs) return new Map([[player.pairs[state], 1]]);
  return new Map(pairsOf(game, state).map((pair) => [pair, player.chances![pair]]));
}
