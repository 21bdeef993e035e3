// The regret of a player against perfect play, and the mistakes that add up to it.

import { pairsOf, type Game, type Player } from "../data/game";
import type { Solved } from "./solved";
import { playedAt } from "./sweep";

export interface Mistake {
  state: number;
  plays: number; // the player's most probable pair, -1 for an illegal move
  best: number;
  visits: number; // expected number in a turn
  loss: number;
  cost: number; // visits * loss: the state's part of the regret
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
  losses.forEach((loss, state) => {
    if (loss * visits[state] > 0) costly.push(state);
    regret += loss * visits[state];
  });
  const mistakes = costly.map((state) => ({
    state,
    plays: usual(game, player, state),
    best: perfect.pairs![state],
    visits: visits[state],
    loss: losses[state],
    cost: visits[state] * losses[state],
  }));
  return { regret, mistakes: mistakes.sort((one, other) => other.cost - one.cost || one.state - other.state) };
}

function usual(game: Game, player: Player, state: number): number {
  if (player.pairs) return player.pairs[state];
  const played = playedAt(game, player, state);
  return pairsOf(game, state).reduce((best, pair) => (played.get(pair)! > played.get(best)! ? pair : best));
}
