// What the map may be coloured by: a number for every state, and how strong a colour that is.

import type { Player } from "../data/game";
import { lossShown, percent, shown, unitOf } from "../exact/goals";
import type { Solved } from "../exact/solved";
import { differ, expectedOfStates, visitsOfStates } from "../exact/states";
import type { Session } from "../session";

export const SHADES = {
  value: "what it is worth",
  visits: "how often it is met",
  loss: "what is lost there",
  differ: "where two disagree",
};

export interface Shade {
  words: string;
  colour: string; // a CSS variable
  numbers: Float64Array;
  power: number; // of the share of the greatest number; less than 1 shows small ones, too
  least: number; // what is palest
  text: (number: number) => string;
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
  switch (by) {
    case "value":
      return {
        words: unitOf(game, goal),
        colour: "--accent",
        numbers: values.state,
        power: 1,
        least: Math.min(...values.state.filter((_, state) => !game.over[state])),
        text: (value) => shown(game, goal, value),
      };
    case "visits":
      return {
        words: `met in a turn of ${player.name}`,
        colour: "--luck",
        numbers: visitsOfStates(game, session.visits(player)),
        power: 0.3,
        least: 0,
        text: percent,
      };
    case "loss": {
      const losses = session.losses(solved, player);
      return {
        words: `lost by ${player.name} with the next throw`,
        colour: "--choice",
        numbers: expectedOfStates(game, (node) => losses[node]),
        power: 0.5,
        least: 0,
        text: (loss) => (loss ? `loses ${lossShown(goal, loss)}` : "loses nothing"),
      };
    }
    case "differ":
      return {
        words: `the chance that ${player.name} and ${other.name} move differently`,
        colour: "--luck",
        numbers: expectedOfStates(game, differ(game, player, other)),
        power: 0.6,
        least: 0,
        text: percent,
      };
  }
}

// From 0 (pale) to 1, by state.
export function strengthOf(shade: Shade, states: number[]): Float64Array {
  const most = states.reduce((high, state) => Math.max(high, shade.numbers[state]), -Infinity);
  const share = (number: number) => (number - shade.least) / (most - shade.least || 1);
  return shade.numbers.map((number) => Math.min(1, Math.max(0, share(number))) ** shade.power);
}
