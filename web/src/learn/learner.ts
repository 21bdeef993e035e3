// Q-learning of afterstate values from sampled throws and final scores alone. See Sutton and Barto, Reinforcement
// Learning (2018): Q-learning is in section 6.5, afterstates are in 6.8.

import { fractions } from "../data/dice";
import { stateOf, rollsAt, type Game } from "../data/game";

export interface Settings {
  explore: number; // the probability of a random move
  rate: number | null; // the learning rate; null is one over the number of corrections of a value
  seed: number;
}

// A correction: the value of a position before and after it, the state after the throw, and the move, or -1.
export interface Correction {
  afterstate: number;
  state: number;
  pair: number;
  before: number;
  after: number;
}

export interface Learner {
  values: Float64Array; // the estimated utility of every afterstate, initially 0
  corrections: Uint32Array; // of the value of every afterstate
  episode: (record?: Correction[]) => void; // play a turn and learn from it
  moves: () => Int32Array; // return the greedy pair of every state, -1 if there is no move
}

export function makeLearner(game: Game, utility: Float64Array, { explore, rate, seed }: Settings): Learner {
  const values = new Float64Array(game.afterstates.length);
  const corrections = new Uint32Array(game.afterstates.length);
  const chances = fractions(seed);
  const drawn = (count: number) => Math.floor(chances() * count);
  const greedy = (state: number) => {
    const last = game.pairStart[state + 1];
    let best = game.pairStart[state];
    if (best === last) return -1;
    for (let pair = best + 1; pair < last; pair++) {
      if (values[game.next[pair]] > values[game.next[best]]) best = pair;
    }
    return best;
  };
  const correct = (afterstate: number, target: number) => {
    corrections[afterstate] += 1;
    values[afterstate] += (rate ?? 1 / corrections[afterstate]) * (target - values[afterstate]);
  };
  const episode = (record?: Correction[]) => {
    let afterstate = game.start;
    for (;;) {
      const { ofThrow } = rollsAt(game, afterstate);
      const state = stateOf(game, afterstate, ofThrow[drawn(ofThrow.length)]);
      const best = greedy(state);
      const before = values[afterstate];
      correct(afterstate, best < 0 ? utility[game.scoreIndex[afterstate]] : values[game.next[best]]);
      const first = game.pairStart[state];
      const explores = best >= 0 && chances() < explore;
      const pair = explores ? first + drawn(game.pairStart[state + 1] - first) : best;
      record?.push({ afterstate, state, pair, before, after: values[afterstate] });
      if (pair < 0) return;
      afterstate = game.next[pair];
    }
  };
  return { values, corrections, episode, moves: () => Int32Array.from(game.stateOrigin, (_, state) => greedy(state)) };
}
