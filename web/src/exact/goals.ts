// The goals of a turn: the utility of each final score, the words in the address, and the text for people.

import { whole, type Words } from "../address";
import type { Game } from "../data/game";

export type Goal =
  | { kind: "score" }
  | { kind: "reach"; index: number } // a final score that good, or better
  | { kind: "round"; ties: string; lead: number | null; holders: number; after: number }
  | { kind: "share"; utility: Float64Array; words: string }; // the share of the win by final score

export function utilityOf(game: Game, goal: Goal): Float64Array {
  const indices = game.scores.map((_, index) => index);
  switch (goal.kind) {
    case "score":
      return Float64Array.from(game.scores, (score) => game.sign * score);
    case "reach":
      return Float64Array.from(indices, (index) => (index <= goal.index ? 1 : 0));
    case "round":
      return Float64Array.from(indices, (index) => roundValue(game, goal, index));
    case "share":
      return goal.utility;
  }
}

// Return the chance to win a round of perfect players with a final score. Scores are indices, the best is 0.
function roundValue(game: Game, goal: Goal & { kind: "round" }, index: number): number {
  if (goal.lead !== null && index > goal.lead) return 0;
  const holders = index === goal.lead ? goal.holders + 1 : 1;
  const { players } = game.leads;
  return game.leadValues(goal.ties)[(goal.after * game.scores.length + index) * players + holders - 1];
}

export function perfectIndex(game: Game): number {
  return game.scores.filter((score) => game.sign * score >= game.sign * game.perfect).length - 1;
}

export function isChance(goal: Goal): boolean {
  return goal.kind !== "score";
}

// Write a utility for people.
export function shown(game: Game, goal: Goal, utility: number): string {
  return isChance(goal) ? percent(utility) : (game.sign * utility + 0).toFixed(3);
}

// Write a loss with its significant digits; never "0" unless it is 0.
export function lossShown(goal: Goal, loss: number): string {
  const scaled = isChance(goal) ? 100 * loss : loss;
  const digits = scaled >= 1 ? 2 : scaled >= 0.01 ? 3 : Math.min(9, 1 - Math.floor(Math.log10(scaled || 1)));
  return `${scaled.toFixed(loss === 0 ? 0 : digits)}${isChance(goal) ? "%" : ""}`;
}

// Write a change with its sign: plus is good for the player, and a rounding error is 0.
export function signed(goal: Goal, change: number): string {
  if (Math.abs(change) < 1e-9) return "0";
  return `${change < 0 ? "−" : "+"}${lossShown(goal, Math.abs(change))}`;
}

export function percent(chance: number): string {
  return `${(100 * chance).toFixed(chance > 0 && chance < 0.001 ? 4 : 2)}%`;
}

export function unitOf(game: Game, goal: Goal): string {
  switch (goal.kind) {
    case "score":
      return "points expected";
    case "reach":
      return goal.index === perfectIndex(game) ? game.perfection : `chance of ${game.goals[goal.index]}`;
    case "round":
      return goal.ties === "split" ? "share of the win" : "chance to win";
    case "share":
      return "share of the win";
  }
}

export function inWords(game: Game, goal: Goal): string {
  switch (goal.kind) {
    case "score":
      return `the ${game.best} points`;
    case "reach":
      return unitOf(game, goal);
    case "round": {
      const lead = goal.lead === null ? "first to play" : `to beat ${game.points[goal.lead]}`;
      return `a round: ${lead}, ${goal.after} to come`;
    }
    case "share":
      return goal.words;
  }
}

// The grades of a loss, from none to the most serious.
export const GRADES = ["best", "slight", "mistake", "blunder"] as const;
export type Grade = (typeof GRADES)[number];

export function gradeOf(goal: Goal, loss: number): Grade {
  const scaled = isChance(goal) ? 20 * loss : loss; // five percent count as one point
  return scaled === 0 ? "best" : scaled < 0.1 ? "slight" : scaled < 0.5 ? "mistake" : "blunder";
}

// The words of goals in the address: "for=at-most:5", or "for=round&lead=10&holders=1&after=2&ties=split".
export const GOAL_WORDS = ["for", "ties", "after", "lead", "holders"];

export function goalToWords(game: Game, goal: Goal): Words {
  switch (goal.kind) {
    case "reach":
      return { for: goal.index === perfectIndex(game) ? "shut" : reachInWords(game, goal.index) };
    case "round": {
      const { ties, after, lead, holders } = goal;
      const words = { for: "round", ties, after: `${after}` };
      return lead === null ? words : { ...words, lead: `${game.scores[lead]}`, holders: `${holders}` };
    }
    default:
      return {};
  }
}

// Return whether all words about a goal are those of this one.
export function isGoalOf(game: Game, goal: Goal, words: Words): boolean {
  const usual: Words = { for: "score", ...goalToWords(game, goal) };
  const also = goal.kind === "reach" ? reachInWords(game, goal.index) : usual.for;
  return GOAL_WORDS.every((name) => [undefined, usual[name], name === "for" && also].includes(words[name]));
}

function reachInWords(game: Game, index: number): string {
  return `${reach(game)}:${game.scores[index]}`;
}

export function goalFromWords(game: Game, words: Words): Goal {
  const [kind, target] = (words.for ?? "score").split(":");
  if (kind === "shut") return { kind: "reach", index: perfectIndex(game) };
  const index = game.scores.indexOf(Number(target ?? "none"));
  if (kind === reach(game) && index >= 0) return { kind: "reach", index };
  if (kind === "round") return roundFromWords(game, words);
  return { kind: "score" };
}

function roundFromWords(game: Game, words: Words): Goal {
  const others = game.leads.players - 1;
  const lead = game.scores.indexOf(Number(words.lead ?? "none"));
  const after = clamped(0, whole(words.after, 1), lead < 0 ? others : others - 1);
  const ties = Object.hasOwn(game.leads.ties, words.ties ?? "") ? words.ties : Object.keys(game.leads.ties)[0];
  const holders = lead < 0 ? 0 : clamped(1, whole(words.holders, 1), others - after);
  return { kind: "round", ties, lead: lead < 0 ? null : lead, holders, after };
}

export function clamped(low: number, number: number, high: number): number {
  return Math.max(low, Math.min(high, number));
}

function reach(game: Game): string {
  return game.sign < 0 ? "at-most" : "at-least";
}
