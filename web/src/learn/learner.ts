// Learners of afterstate values. Q-learning and Monte Carlo learn from sampled throws and final scores alone; value
// iteration knows the dice. See Sutton and Barto, Reinforcement Learning (2018): Monte Carlo control is in section 5.4,
// Q-learning in 6.5, value iteration in 4.4, and afterstates in 6.8.

import { fractions } from "../data/dice";
import { stateOf, rollsAt, type Game } from "../data/game";

export type Method = "q-learning" | "monte-carlo" | "value-iteration";

export interface Settings {
  method: Method;
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
  episode: (record?: Correction[]) => void; // learn from a turn, or by a sweep through all positions
  finished: () => boolean; // whether another sweep changes nothing
  moves: () => Int32Array; // return the greedy pair of every state, -1 if there is no move
}

export function makeLearner(game: Game, utility: Float64Array, { method, explore, rate, seed }: Settings): Learner {
  const values = new Float64Array(game.afterstates.length);
  const corrections = new Uint32Array(game.afterstates.length);
  const chances = fractions(seed);
  let isFinished = false;
  const drawn = (count: number) => Math.floor(chances() * count);
  const greedy = (state: number, of = values) => {
    const last = game.pairStart[state + 1];
    let best = game.pairStart[state];
    if (best === last) return -1;
    for (let pair = best + 1; pair < last; pair++) {
      if (of[game.next[pair]] > of[game.next[best]]) best = pair;
    }
    return best;
  };
  const correct = (afterstate: number, target: number) => {
    corrections[afterstate] += 1;
    values[afterstate] += (rate ?? 1 / corrections[afterstate]) * (target - values[afterstate]);
  };
  // Play a turn. Q-learning corrects each position after its throw, Monte Carlo all of them at the end.
  const turn = (record: Correction[] = []) => {
    let afterstate = game.start;
    for (;;) {
      const { ofThrow } = rollsAt(game, afterstate);
      const state = stateOf(game, afterstate, ofThrow[drawn(ofThrow.length)]);
      const best = greedy(state);
      const before = values[afterstate];
      if (method === "q-learning") {
        correct(afterstate, best < 0 ? utility[game.scoreIndex[afterstate]] : values[game.next[best]]);
      }
      const first = game.pairStart[state];
      const explores = best >= 0 && chances() < explore;
      const pair = explores ? first + drawn(game.pairStart[state + 1] - first) : best;
      record.push({ afterstate, state, pair, before, after: values[afterstate] });
      if (pair < 0) break;
      afterstate = game.next[pair];
    }
    if (method === "q-learning") return;
    const outcome = utility[game.scoreIndex[afterstate]];
    for (const each of record) {
      correct(each.afterstate, outcome);
      each.after = values[each.afterstate];
    }
  };
  // Replace every value by the mean over all rolls of the best value, before the sweep, that a move leads to.
  const sweep = () => {
    const old = values.slice();
    for (let afterstate = 0; afterstate < values.length; afterstate++) {
      const { counts, total } = rollsAt(game, afterstate);
      let sum = 0;
      for (let roll = 0; roll < counts.length; roll++) {
        const best = greedy(stateOf(game, afterstate, roll), old);
        sum += counts[roll] * (best < 0 ? utility[game.scoreIndex[afterstate]] : old[game.next[best]]);
      }
      values[afterstate] = sum / total;
      corrections[afterstate] += 1;
    }
    isFinished = values.every((value, at) => value === old[at]);
  };
  return {
    values,
    corrections,
    episode: method === "value-iteration" ? sweep : turn,
    finished: () => isFinished,
    moves: () => Int32Array.from(game.stateOrigin, (_, state) => greedy(state)),
  };
}
