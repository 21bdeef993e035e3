// Perfect play by backward induction, and what a player's moves amount to; the same passes as in `stb_gym.solver`.

import { chanceOf, edgesOf, rollsAt, type Game, type Player } from "../data/game";

// Utilities are equal that differ by no more than this share of them; see `stb_gym.solver.values`.
const TIE = 1e-10;

export interface Values {
  utility: Float64Array; // by final score
  state: Float64Array; // expected utility at every state before its throw
  node: Float64Array; // and at every node before its choice
  scale: number; // the largest utility where there are some of both signs, else 0
}

// The value of every state and node if `choose` says what a node with edges first to last is worth.
type Choose = (state: Float64Array, node: number, first: number, last: number) => number;

function sweep(game: Game, utility: Float64Array, choose: Choose): Values {
  const state = new Float64Array(game.dice.length);
  const node = new Float64Array(game.nodeState.length);
  for (let at = 0; at < state.length; at++) {
    const { counts, total } = rollsAt(game, at);
    const first = game.nodeStart[at];
    let sum = 0;
    for (let roll = 0; roll < counts.length; roll++) {
      const [from, to] = [game.edgeStart[first + roll], game.edgeStart[first + roll + 1]];
      node[first + roll] = from === to ? utility[game.score[at]] : choose(state, first + roll, from, to);
      sum += counts[roll] * node[first + roll];
    }
    state[at] = sum / total;
  }
  const [low, high] = [Math.min(...utility), Math.max(...utility)];
  return { utility, state, node, scale: low < 0 && high > 0 ? Math.max(-low, high) : 0 };
}

export function solve(game: Game, utility: Float64Array): Values {
  return sweep(game, utility, (state, _, from, to) => {
    let best = -Infinity;
    for (let edge = from; edge < to; edge++) best = Math.max(best, state[game.next[edge]]);
    return best;
  });
}

// What the player's turns are worth, everywhere.
export function expected(game: Game, player: Player, utility: Float64Array): Values {
  const worst = Math.min(...utility);
  return sweep(game, utility, (state, node, from, to) => {
    if (player.edges) return player.edges[node] < 0 ? worst : state[game.next[player.edges[node]]];
    let sum = 0;
    for (let edge = from; edge < to; edge++) sum += player.chances![edge] * state[game.next[edge]];
    return sum;
  });
}

// How often a turn comes to every node.
export function visits(game: Game, player: Player): Float64Array {
  const reached = new Float64Array(game.dice.length);
  const visited = new Float64Array(game.nodeState.length);
  reached[game.start] = 1;
  for (let state = reached.length - 1; state >= 0; state--) {
    if (!reached[state]) continue;
    for (let node = game.nodeStart[state]; node < game.nodeStart[state + 1]; node++) {
      visited[node] = reached[state] * chanceOf(game, node);
      if (player.edges) {
        if (player.edges[node] >= 0) reached[game.next[player.edges[node]]] += visited[node];
      } else {
        for (let edge = game.edgeStart[node]; edge < game.edgeStart[node + 1]; edge++) {
          reached[game.next[edge]] += visited[node] * player.chances![edge];
        }
      }
    }
  }
  return visited;
}

// What the player's choice loses at every node, if play were perfect afterwards.
export function losses(game: Game, values: Values, { edges, chances }: Player): Float64Array {
  const worst = Math.min(...values.utility);
  const lost = new Float64Array(values.node.length);
  for (let node = 0; node < lost.length; node++) {
    const [first, last] = [game.edgeStart[node], game.edgeStart[node + 1]];
    if (first === last) continue;
    if (edges) lost[node] = edges[node] < 0 ? values.node[node] - worst : lossOf(game, values, edges[node], node);
    else for (let edge = first; edge < last; edge++) lost[node] += chances![edge] * lossOf(game, values, edge, node);
  }
  return lost;
}

export function lossOf(game: Game, values: Values, edge: number, node: number): number {
  const lost = values.node[node] - values.state[game.next[edge]];
  return Math.abs(lost) <= TIE * (values.scale || Math.abs(values.node[node])) ? 0 : lost;
}

// Who makes the first of the best moves at every node.
export function perfect(game: Game, values: Values): Player {
  const edges = new Int32Array(values.node.length).fill(-1);
  for (let node = 0; node < edges.length; node++) {
    let edge = game.edgeStart[node];
    if (edge === game.edgeStart[node + 1]) continue;
    while (lossOf(game, values, edge, node) !== 0) edge++;
    edges[node] = edge;
  }
  return { ...game.optimum, how: "perfect play for what is wanted", edges };
}

// The chances of all final scores of a player's turn, the best first.
export function scoreChances(game: Game, visited: Float64Array): Float64Array {
  const chances = new Float64Array(game.scores.length);
  visited.forEach((often, node) => {
    if (game.edgeStart[node] === game.edgeStart[node + 1]) chances[game.score[game.nodeState[node]]] += often;
  });
  return chances;
}

// The moves that a player makes at a node, with their chances.
export function playedAt(game: Game, player: Player, node: number): Map<number, number> {
  if (player.edges) return new Map([[player.edges[node], 1]]);
  return new Map(edgesOf(game, node).map((edge) => [edge, player.chances![edge]]));
}
