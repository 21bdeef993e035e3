// The quantities that can colour the map: a number for every afterstate, and the strength of its colour.

import type { Player } from "../data/game";
import { isChance, lossShown, percent, shown, unitOf, clamped } from "../exact/goals";
import type { Solved } from "../exact/solved";
import { differ, expectedOfAfterstates, visitsOfAfterstates } from "../exact/afterstates";
import { evenTicks, roundBetween } from "../parts/scales";
import type { Session } from "../session";

export const SHADES = {
  value: "what it is worth",
  visits: "how often it is met",
  loss: "what is lost there",
  differ: "where two disagree",
};

export interface Shade {
  words: string;
  hue: string;
  numbers: Float64Array; // by afterstate
  smallest: number; // has the weakest colour
  none?: string; // describes afterstates whose number is 0, which are pale
  power: number; // of the share of the largest number; less than 1 makes small ones visible
  text: (number: number) => string;
  tick: (number: number) => string;
}

export function shadeOf(
  session: Session,
  solved: Solved,
  by: keyof typeof SHADES,
  player: Player,
  other: Player,
): Shade {
  const { game } = session;
  const { goal, values } = solved;
  const percentTick = (chance: number) => `${Number((100 * chance).toPrecision(6))}%`;
  const points = (sign: number) => (value: number) => `${Number((sign * value + 0).toPrecision(6))}`;
  switch (by) {
    case "value":
      return {
        words: unitOf(game, goal),
        hue: "value",
        numbers: values.afterstate,
        smallest: Math.min(...values.afterstate.filter((_, afterstate) => !game.over[afterstate])),
        power: 1,
        text: (value) => shown(game, goal, value),
        tick: isChance(goal) ? percentTick : points(game.sign),
      };
    case "visits":
      return {
        words: `met in a turn of ${player.name}`,
        hue: "often",
        numbers: visitsOfAfterstates(game, session.visits(player)),
        smallest: 0,
        none: "never",
        power: 0.3,
        text: percent,
        tick: percentTick,
      };
    case "loss": {
      const losses = session.losses(solved, player);
      return {
        words: `lost by ${player.name} with the next throw`,
        hue: "lost",
        numbers: expectedOfAfterstates(game, (state) => losses[state]),
        smallest: 0,
        none: "nothing",
        power: 0.5,
        text: (loss) => (loss ? `loses ${lossShown(goal, loss)}` : "loses nothing"),
        tick: isChance(goal) ? percentTick : points(1),
      };
    }
    case "differ":
      return {
        words: `the chance that ${player.name} and ${other.name} move differently`,
        hue: "often",
        numbers: expectedOfAfterstates(game, differ(game, player, other)),
        smallest: 0,
        none: "never",
        power: 0.6,
        text: percent,
        tick: percentTick,
      };
  }
}

const BETWEEN_TICKS = 0.16; // the least distance, as a share of the ramp

// Return the function from a number to the strength of its colour, from 0 to 1 over these afterstates; NaN is pale.
export function strengthOf(
  { numbers, smallest, none, power }: Shade,
  afterstates: number[],
): (number: number) => number {
  const largest = afterstates.reduce((high, afterstate) => Math.max(high, numbers[afterstate]), smallest);
  return (number) =>
    none && number === 0 ? NaN : clamped(0, (number - smallest) / (largest - smallest || 1), 1) ** power;
}

// Return round numbers along the ramp, far enough apart to read them.
export function ticksOf(shade: Shade, afterstates: number[]): { at: number; words: string }[] {
  const strength = strengthOf(shade, afterstates);
  const largest = afterstates.reduce((high, afterstate) => Math.max(high, shade.numbers[afterstate]), shade.smallest);
  const round =
    shade.power === 1 ? evenTicks(shade.smallest, largest, 7) : roundBetween(largest / 1e4, largest, [1, 2, 5]);
  const ticks: { at: number; words: string }[] = [];
  for (const value of round.reverse()) {
    const at = strength(value);
    if (!ticks.length || ticks[0].at - at >= BETWEEN_TICKS) ticks.unshift({ at, words: shade.tick(value) });
  }
  return ticks;
}
