// The settings of a learner in the address: "explore=0.1&rate=0.03&seed=2".

import { whole, type Words } from "../address";
import type { Settings } from "./learner";

export const EXPLORE = [0, 0.01, 0.1, 0.3, 1];
export const RATES = [null, 0.3, 0.1, 0.03, 0.01];
const USUAL: Settings = { explore: 0.1, rate: null, seed: 1 };

export function settingsFromWords(words: Words): Settings {
  return {
    explore: EXPLORE.find((explore) => `${explore}` === words.explore) ?? USUAL.explore,
    rate: RATES.find((rate) => `${rate}` === words.rate) ?? USUAL.rate,
    seed: whole(words.seed, USUAL.seed),
  };
}

export function settingsToWords({ explore, rate, seed }: Settings): Words {
  return { explore: `${explore}`, ...(rate === null ? {} : { rate: `${rate}` }), seed: `${seed}` };
}

export function settingsInWords({ explore, rate, seed }: Settings): string {
  return `exploration ${100 * explore}%, rate ${rate ?? "1/n"}, seed ${seed}`;
}
