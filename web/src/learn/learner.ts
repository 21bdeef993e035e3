// Q-learning of afterstate values: what a position is worth before its throw is learnt from sampled throws and final
// scores alone. Sutton and Barto, Reinforcement Learning (2018): Q-learning is in section 6.5, afterstates in 6.8.

import { fractions } from "../data/dice";
import { nodeOf, rollsAt, type Game } from "../data/game";

export interface Settings {
  explore: number; // the probability of a random move
  rate: number | null; // the share of an error by which a value is corrected; null is one over the number of corrections
  seed: number;
}

export interface Learner {
  values: Float64Array; // the estimated utility of every state, 0 at first
  episode: () => void; // plays a turn and learns from it
  moves: () => Int32Array; // the greedy edge of every node, -1 where there is no move
}

export function makeLearner(game: Game, utility: Float64Array, { explore, rate, seed }: Settings): Learner {
  const values = new Float64Array(game.states.length);
  const corrections = new Uint32Array(game.states.length);
  const chances = fractions(seed);
  const drawn = (count: number) => Math.floor(chances() * count);
  const greedy = (node: number) => {
    const last = game.edgeStart[node + 1];
    let best = game.edgeStart[node];
    if (best === last) return -1;
    for (let edge = best + 1; edge < last; edge++) {
      if (values[game.next[edge]] > values[game.next[best]]) best = edge;
    }
    return best;
  };
  const correct = (state: number, target: number) => {
    corrections[state] += 1;
    values[state] += (rate ?? 1 / corrections[state]) * (target - values[state]);
  };
  const episode = () => {
    let state = game.start;
    for (;;) {
      const { ofThrow } = rollsAt(game, state);
      const node = nodeOf(game, state, ofThrow[drawn(ofThrow.length)]);
      const best = greedy(node);
      if (best < 0) return correct(state, utility[game.score[state]]);
      correct(state, values[game.next[best]]);
      const first = game.edgeStart[node];
      const edge = chances() < explore ? first + drawn(game.edgeStart[node + 1] - first) : best;
      state = game.next[edge];
    }
  };
  return { values, episode, moves: () => Int32Array.from(game.nodeState, (_, node) => greedy(node)) };
}
