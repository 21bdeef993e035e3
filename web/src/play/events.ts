// The events of a game, each with the value of the game before and after it. A throw is luck, a move is a choice.

import { moveInWords, type Game } from "../data/game";
import { gradeOf, isChance, lossShown, perfectIndex, type Goal, type Grade } from "../exact/goals";
import { lossOf } from "../exact/sweep";
import type { Result } from "../statistics";
import { share, type Played } from "./game";

export interface Event {
  kind: "luck" | "choice";
  words: string;
  before: number; // the value of the game, as a utility
  after: number;
  state?: number; // these three are those of a choice
  pair?: number;
  grade?: Grade;
}

export function eventsOf(game: Game, { solved, mine, theirs, over }: Played, second: boolean): Event[] {
  const { values, goal } = solved;
  const events: Event[] = [];
  for (const { afterstate, faces, state, pair } of mine.steps) {
    events.push({
      kind: "luck",
      words: `throw ${faces.join(" ")}`,
      before: values.afterstate[afterstate],
      after: values.state[state],
    });
    if (pair < 0) continue;
    const lost = lossOf(game, values, pair, state);
    const [before, after] = [values.state[state], values.state[state] - lost];
    events.push({
      kind: "choice",
      words: moveInWords(game, pair),
      before,
      after,
      state,
      pair,
      grade: gradeOf(goal, lost),
    });
  }
  if (over && theirs && !second) {
    const before = values.utility[game.scoreIndex[mine.end]];
    events.push({
      kind: "luck",
      words: `the opponent: ${game.points[game.scoreIndex[theirs.end]]}`,
      before,
      after: share(game, mine, theirs),
    });
  }
  return events;
}

export function totals(events: Event[]): Record<Event["kind"], number> {
  const sum = (kind: Event["kind"]) =>
    events.filter((event) => event.kind === kind).reduce((all, { before, after }) => all + after - before, 0);
  return { luck: sum("luck"), choice: sum("choice") };
}

// Return what the dice and the choices of a game did: "The dice gave you 0.70 points", "your choices cost 6.55".
export function inWordsOf(goal: Goal, events: Event[], you: string, your: string): [dice: string, choices: string] {
  const { luck, choice } = totals(events);
  const amount = `${lossShown(goal, Math.abs(luck))}${isChance(goal) ? "" : " points"}`;
  const gave = luck > 0 ? `The dice gave ${you} ${amount}` : `The dice took ${amount} from ${you}`;
  return [
    Math.abs(luck) < 1e-9 ? `The dice gave ${you} nothing` : gave,
    `${your} choices cost ${choice === 0 ? "nothing" : lossShown(goal, -choice)}`,
  ];
}

// Return the numbers of a finished game that the statistics count.
export function resultOf(game: Game, played: Played, second: boolean, day: string | null): Result {
  const { mine, theirs, solved } = played;
  const { luck, choice } = totals(eventsOf(game, played, second));
  const index = game.scoreIndex[mine.end];
  return {
    points: game.scores[index],
    perfect: index <= perfectIndex(game),
    account: solved.goal.kind === "score" ? { luck, lost: -choice } : null,
    day: solved.goal.kind === "score" ? day : null,
    won: theirs && share(game, mine, theirs) === 1,
  };
}

export function mistakesOf(events: Event[]): Event[] {
  return events.filter(({ grade }) => grade !== undefined && grade !== "best");
}
