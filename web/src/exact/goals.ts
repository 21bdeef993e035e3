// What a turn may be played for: utilities of its final scores, how they are written, and how people read them.

import type { Game } from "../data/game";

export type Goal =
  | { kind: "score" }
  | { kind: "reach"; place: number } // a final score that good, or better
  | { kind: "round"; ties: string; lead: number | null; holders: number; after: number }
  | { kind: "share"; utility: Float64Array; words: string }; // of a win, by final score

export function utilityOf(game: Game, goal: Goal): Float64Array {
  const places = game.scores.map((_, place) => place);
  switch (goal.kind) {
    case "score":
      return Float64Array.from(game.scores, (score) => game.sign * score);
    case "reach":
      return Float64Array.from(places, (place) => (place <= goal.place ? 1 : 0));
    case "round":
      return Float64Array.from(places, (place) => worthOf(game, goal, place));
    case "share":
      return goal.utility;
  }
}

// What a final score is worth in a round of perfect players. Leads are places among the scores, the best first.
function worthOf(game: Game, goal: Goal & { kind: "round" }, place: number): number {
  if (goal.lead !== null && place > goal.lead) return 0;
  const holders = place === goal.lead ? goal.holders + 1 : 1;
  const { players } = game.leads;
  return game.worth(goal.ties)[(goal.after * game.scores.length + place) * players + holders - 1];
}

export function perfectPlace(game: Game): number {
  return game.scores.filter((score) => game.sign * score >= game.sign * game.perfect).length - 1;
}

export function isChance(goal: Goal): boolean {
  return goal.kind !== "score";
}

// A utility as people read it.
export function shown(game: Game, goal: Goal, utility: number): string {
  return isChance(goal) ? percent(utility) : (game.sign * utility + 0).toFixed(3);
}

// What is lost, in as many digits as matter; never "0" for what is not nothing.
export function lossShown(goal: Goal, loss: number): string {
  const scaled = isChance(goal) ? 100 * loss : loss;
  const digits = scaled >= 1 ? 2 : scaled >= 0.01 ? 3 : Math.min(9, 1 - Math.floor(Math.log10(scaled || 1)));
  return `${scaled.toFixed(loss === 0 ? 0 : digits)}${isChance(goal) ? "%" : ""}`;
}

// Plus is good for the player; what is only rounding is 0.
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
      return goal.place === perfectPlace(game) ? game.perfection : `chance of ${game.goals[goal.place]}`;
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

// How serious a loss is, in the order of `GRADES`.
export const GRADES = ["best", "slight", "mistake", "blunder"] as const;
export type Grade = (typeof GRADES)[number];

export function gradeOf(goal: Goal, loss: number): Grade {
  const scaled = isChance(goal) ? 20 * loss : loss; // five percent weigh as much as a point
  return scaled === 0 ? "best" : scaled < 0.1 ? "slight" : scaled < 0.5 ? "mistake" : "blunder";
}

// In the address: "for=at-most:5", or "for=round&lead=10&holders=1&after=2&ties=split".
export const GOAL_WORDS = ["for", "ties", "after", "lead", "holders"];

export function goalToWords(game: Game, goal: Goal): Record<string, string> {
  switch (goal.kind) {
    case "reach":
      return { for: goal.place === perfectPlace(game) ? "shut" : `${reach(game)}:${game.scores[goal.place]}` };
    case "round": {
      const { ties, after, lead, holders } = goal;
      const words = { for: "round", ties, after: `${after}` };
      return lead === null ? words : { ...words, lead: `${game.scores[lead]}`, holders: `${holders}` };
    }
    default:
      return {};
  }
}

export function goalFromWords(game: Game, words: Record<string, string>): Goal {
  const [kind, target] = (words.for ?? "score").split(":");
  if (kind === "shut") return { kind: "reach", place: perfectPlace(game) };
  const place = game.scores.indexOf(Number(target ?? "none"));
  if (kind === reach(game) && place >= 0) return { kind: "reach", place };
  if (kind === "round") return roundFromWords(game, words);
  return { kind: "score" };
}

function roundFromWords(game: Game, words: Record<string, string>): Goal {
  const most = game.leads.players - 1;
  const lead = game.scores.indexOf(Number(words.lead ?? "none"));
  const after = within(0, whole(words.after, 1), lead < 0 ? most : most - 1);
  const ties = Object.hasOwn(game.leads.ties, words.ties ?? "") ? words.ties : Object.keys(game.leads.ties)[0];
  const holders = lead < 0 ? 0 : within(1, whole(words.holders, 1), most - after);
  return { kind: "round", ties, lead: lead < 0 ? null : lead, holders, after };
}

function whole(text: string | undefined, usual: number): number {
  return text && /^\d+$/.test(text) ? Number(text) : usual;
}

export function within(least: number, number: number, most: number): number {
  return Math.max(least, Math.min(most, number));
}

function reach(game: Game): string {
  return game.sign < 0 ? "at-most" : "at-least";
}
