// The settings of a learner in the address: "method=monte-carlo&explore=0.1&rate=0.03&seed=2".

import { whole, type Words } from "../address";
import type { Method, Settings } from "./learner";

export const EXPLORE = [0, 0.01, 0.1, 0.3, 1];
export const RATES = [null, 0.3, 0.1, 0.03, 0.01];
const USUAL: Settings = { method: "q-learning", explore: 0.1, rate: null, seed: 1 };

interface About {
  words: string;
  counted: string; // what it learns by
  how: string;
  section: string; // of Sutton and Barto
}

export const METHODS: Record<Method, About> = {
  "q-learning": {
    words: "Q-learning",
    counted: "episode",
    how: "After a throw it corrects the number of its position toward the number of the best position that it can move to, and at the end of a turn toward what the final score is worth.",
    section: "6.5",
  },
  "monte-carlo": {
    words: "Monte Carlo",
    counted: "episode",
    how: "At the end of a turn it corrects the number of each position of the turn toward what the final score is worth. So the numbers include what its random moves cost.",
    section: "5.4",
  },
  "value-iteration": {
    words: "value iteration",
    counted: "sweep",
    how: "Each sweep replaces the number of every position by the mean, over all rolls, of the best number that a move leads to, as it was before the sweep. After k sweeps the positions from which a turn takes at most k throws are exact. It ends when a sweep changes nothing.",
    section: "4.4",
  },
};

export function settingsFromWords(words: Words): Settings {
  return {
    method: Object.hasOwn(METHODS, words.method ?? "") ? (words.method as Method) : USUAL.method,
    explore: EXPLORE.find((explore) => `${explore}` === words.explore) ?? USUAL.explore,
    rate: RATES.find((rate) => `${rate}` === words.rate) ?? USUAL.rate,
    seed: whole(words.seed, USUAL.seed),
  };
}

export function settingsToWords({ method, explore, rate, seed }: Settings): Words {
  return {
    ...(method === USUAL.method ? {} : { method }),
    explore: `${explore}`,
    ...(rate === null ? {} : { rate: `${rate}` }),
    seed: `${seed}`,
  };
}

export function settingsInWords({ method, explore, rate, seed }: Settings): string {
  const { words } = METHODS[method];
  if (method === "value-iteration") return words;
  return `${words}, explore ${100 * explore}%, rate ${rate ?? "1/n"}, seed ${seed}`;
}
