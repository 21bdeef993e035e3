// What the map may be coloured by: a number for every afterstate, and how strong a colour that is.

import type { Player } from "../data/game";
import { isChance, lossShown, percent, shown, unitOf, within } from "../exact/goals";
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
  least: number; // what is weakest
  none?: string; // what afterstates are called that have nothing of it
  power: number; // of the share of the greatest number; less than 1 shows small ones, too
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
        least: Math.min(...values.afterstate.filter((_, afterstate) => !game.over[afterstate])),
        power: 1,
        text: (value) => shown(game, goal, value),
        tick: isChance(goal) ? percentTick : points(game.sign),
      };
    case "visits":
      return {
        words: `met in a turn of ${player.name}`,
        hue: "often",
        numbers: visitsOfAfterstates(game, session.visits(player)),
        least: 0,
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
        least: 0,
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
        least: 0,
        none: "never",
        power: 0.6,
        text: percent,
        tick: percentTick,
      };
  }
}

const BETWEEN_TICKS = 0.16; // of the ramp

// How strong a number is shown, from 0 to 1, if these afterstates are to be told apart; NaN if there is nothing of it.
export function strengthOf({ numbers, least, none, power }: Shade, afterstates: number[]): (number: number) => number {
  const most = afterstates.reduce((high, afterstate) => Math.max(high, numbers[afterstate]), least);
  return (number) => (none && number === 0 ? NaN : within(0, (number - least) / (most - least || 1), 1) ** power);
}

// Round numbers along the ramp, far enough from each other to be read.
export function ticksOf(shade: Shade, afterstates: number[]): { at: number; words: string }[] {
  const strength = strengthOf(shade, afterstates);
  const most = afterstates.reduce((high, afterstate) => Math.max(high, shade.numbers[afterstate]), shade.least);
  const round = shade.power === 1 ? evenTicks(shade.least, most, 7) : roundBetween(most / 1e4, most, [1, 2, 5]);
  const ticks: { at: number; words: string }[] = [];
  for (const value of round.reverse()) {
    const at = strength(value);
    if (!ticks.length || ticks[0].at - at >= BETWEEN_TICKS) ticks.unshift({ at, words: shade.tick(value) });
  }
  return ticks;
}
