// Perfect play by backward induction, and what a player's moves amount to; the same passes as in `stb_gym.solver`.

import { chanceOf, pairsOf, rollsAt, type Game, type Player } from "../data/game";

// Utilities are equal that differ by no more than this share of them; see `TIE` in `stb_gym.solver`.
const TIE = 1e-10;

export interface Values {
  utility: Float64Array; // by final score
  afterstate: Float64Array; // expected utility at every afterstate before its throw
  state: Float64Array; // and at every state before its choice
  scale: number; // the largest utility where there are some of both signs, else 0
}

// The value of every afterstate and state if `choose` says what a state with pairs first to last is worth.
type Choose = (afterstate: Float64Array, state: number, first: number, last: number) => number;

function sweep(game: Game, utility: Float64Array, choose: Choose): Values {
  const afterstate = new Float64Array(game.dice.length);
  const state = new Float64Array(game.stateOrigin.length);
  for (let at = 0; at < afterstate.length; at++) {
    const { counts, total } = rollsAt(game, at);
    const first = game.stateStart[at];
    let sum = 0;
    for (let roll = 0; roll < counts.length; roll++) {
      const [from, to] = [game.pairStart[first + roll], game.pairStart[first + roll + 1]];
      state[first + roll] = from === to ? utility[game.score[at]] : choose(afterstate, first + roll, from, to);
      sum += counts[roll] * state[first + roll];
    }
    afterstate[at] = sum / total;
  }
  const [low, high] = [Math.min(...utility), Math.max(...utility)];
  return { utility, afterstate, state, scale: low < 0 && high > 0 ? Math.max(-low, high) : 0 };
}

export function solve(game: Game, utility: Float64Array): Values {
  return sweep(game, utility, (afterstate, _, from, to) => {
    let best = -Infinity;
    for (let pair = from; pair < to; pair++) best = Math.max(best, afterstate[game.next[pair]]);
    return best;
  });
}

// What the player's turns are worth, everywhere.
export function expected(game: Game, player: Player, utility: Float64Array): Values {
  const worst = Math.min(...utility);
  return sweep(game, utility, (afterstate, state, from, to) => {
    if (player.pairs) return player.pairs[state] < 0 ? worst : afterstate[game.next[player.pairs[state]]];
    let sum = 0;
    for (let pair = from; pair < to; pair++) sum += player.chances![pair] * afterstate[game.next[pair]];
    return sum;
  });
}

// How often a turn comes to every state.
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

// What the player's choice loses at every state, if play were perfect afterwards.
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

// Who makes the first of the best moves at every state.
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

// The chances of all final scores of a player's turn, the best first.
export function scoreChances(game: Game, visited: Float64Array): Float64Array {
  const chances = new Float64Array(game.scores.length);
  visited.forEach((often, state) => {
    if (game.pairStart[state] === game.pairStart[state + 1]) chances[game.score[game.stateOrigin[state]]] += often;
  });
  return chances;
}

// The moves that a player makes at a state, with their chances.
export function playedAt(game: Game, player: Player, state: number): Map<number, number> {
  if (player.pairs) return new Map([[player.pairs[state], 1]]);
  return new Map(pairsOf(game, state).map((pair) => [pair, player.chances![pair]]));
}
