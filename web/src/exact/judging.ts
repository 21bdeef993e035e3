// How far a player is from perfect play, and where that is lost.

import { edgesOf, type Game, type Player } from "../data/game";
import type { Solved } from "./solved";
import { playedAt } from "./sweep";

export interface Mistake {
  node: number;
  plays: number; // the edge taken most often, -1 if that is an illegal move
  best: number;
  visits: number; // in a turn
  loss: number;
  cost: number; // what the node adds to the regret
}

export interface Judged {
  regret: number;
  mistakes: Mistake[]; // the costliest first
}

export function judge(
  game: Game,
  { perfect }: Solved,
  player: Player,
  visits: Float64Array,
  losses: Float64Array,
): Judged {
  let regret = 0;
  const costly: number[] = [];
  losses.forEach((loss, node) => {
    if (loss * visits[node] > 0) costly.push(node);
    regret += loss * visits[node];
  });
  const mistakes = costly.map((node) => ({
    node,
    plays: usual(game, player, node),
    best: perfect.edges![node],
    visits: visits[node],
    loss: losses[node],
    cost: visits[node] * losses[node],
  }));
  return { regret, mistakes: mistakes.sort((one, other) => other.cost - one.cost || one.node - other.node) };
}

function usual(game: Game, player: Player, node: number): number {
  if (player.edges) return player.edges[node];
  const played = playedAt(game, player, node);
  return edgesOf(game, node).reduce((best, edge) => (played.get(edge)! > played.get(best)! ? edge : best));
}
