// Q-learning of afterstate values from sampled throws and final scores alone. See Sutton and Barto, Reinforcement
// Learning (2018): Q-learning is in section 6.5, afterstates are in 6.8.

import { fractions } from "../data/dice";
import { stateOf, rollsAt, type Game } from "../data/game";

export interface Settings {
  explore: number; // the probability of a random move
  rate: number | null; // the learning rate; null is one over the number of corrections of a value
  seed: number;
}

export interface Learner {
  values: Float64Array; // the estimated utility of every afterstate, initially 0
  episode: () => void; // play a turn and learn from it
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
  const episode = () => {
    let afterstate = game.start;
    for (;;) {
      const { ofThrow } = rollsAt(game, afterstate);
      const state = stateOf(game, afterstate, ofThrow[drawn(ofThrow.length)]);
      const best = greedy(state);
      if (best < 0) return correct(afterstate, utility[game.scoreIndex[afterstate]]);
      correct(afterstate, values[game.next[best]]);
      const first = game.pairStart[state];
      const pair = chances() < explore ? first + drawn(game.pairStart[state + 1] - first) : best;
      afterstate = game.next[pair];
    }
  };
  return { values, episode, moves: () => Int32Array.from(game.stateOrigin, (_, state) => greedy(state)) };
}
