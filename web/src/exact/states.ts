// What is known of nodes, told of their states: how often a turn comes there, and what is expected there of a throw.

import { chanceOf, type Game, type Player } from "../data/game";
import type { Mistake } from "./judging";

export function visitsOfStates(game: Game, visits: Float64Array): Float64Array {
  const sums = new Float64Array(game.states.length);
  visits.forEach((often, node) => (sums[game.nodeState[node]] += often));
  return sums;
}

export function expectedOfStates(game: Game, atNodes: (node: number) => number): Float64Array {
  const sums = new Float64Array(game.states.length);
  for (let node = 0; node < game.nodeState.length; node++)
    sums[game.nodeState[node]] += chanceOf(game, node) * atNodes(node);
  return sums;
}

export function costsOfStates(game: Game, mistakes: Mistake[]): Float64Array {
  const sums = new Float64Array(game.states.length);
  for (const { node, cost } of mistakes) sums[game.nodeState[node]] += cost;
  return sums;
}

// How often two players move differently, at every node; the chance of it if one plays by chance.
export function differ(game: Game, one: Player, other: Player): (node: number) => number {
  const chance = (player: Player, edge: number, node: number) =>
    player.edges ? Number(player.edges[node] === edge) : player.chances![edge];
  return (node) => {
    let same = 0;
    for (let edge = game.edgeStart[node]; edge < game.edgeStart[node + 1]; edge++) {
      same += Math.min(chance(one, edge, node), chance(other, edge, node));
    }
    return game.edgeStart[node] === game.edgeStart[node + 1] ? 0 : 1 - same;
  };
}
