// Name in one line the part of a link that the page does not have. The page then shows its default instead.

import { whole, type Address } from "./address";
import { positionFromWords } from "./data/positions";
import { GOAL_WORDS, inWords, isGoalOf } from "./exact/goals";
import { EXPLORE, METHODS, RATES } from "./learn/settings";
import { SHADES } from "./map/shades";
import { COACH, opponents, throwsOf } from "./play/game";
import { SHOWN } from "./views/shown";
import type { Session } from "./session";

interface Shown {
  view: string;
  words: string; // the name of the view
  reads: string[]; // the words of the address that it reads besides those of positions and goals
}

export function noticeOf(session: Session, { view, words }: Address, shown: Shown): string | null {
  const { game } = session;
  const said = (names: string[]) =>
    names.filter((name) => Object.hasOwn(words, name)).map((name) => `${name}=${words[name]}`);
  const missing = (what: string, asked: string, instead: string) =>
    `This link names a ${what} does not have: ${asked}; shown is ${instead}.`;
  if (view && view !== shown.view) return missing("view that the page", view, shown.words);
  const ofPosition = [...game.parts.map(({ name }) => name), "roll"];
  if (!positionFromWords(game, words)) {
    return missing("position that the game", said(ofPosition).join(", "), "the start");
  }
  const goal = session.goal.value;
  if (!isGoalOf(game, goal, words)) {
    return missing("goal that the game", said(GOAL_WORDS).join(", "), inWords(game, goal));
  }
  for (const [name, [what, there, instead = "the usual one"]] of Object.entries(checksOf(session))) {
    const word = words[name];
    if (word !== undefined && !there(word)) return missing(`${what} that the page`, word, instead);
  }
  const known = [...ofPosition, ...GOAL_WORDS, ...shown.reads];
  const unknown = said(Object.keys(words).filter((name) => !known.includes(name)));
  return unknown.length ? `This link has words that the page does not know: ${unknown.join(", ")}.` : null;
}

type Check = [what: string, there: (word: string) => boolean, instead?: string];

function checksOf(session: Session): Record<string, Check> {
  const player = (word: string) => session.everybody(session.solved.value).some(({ name }) => name === word);
  const run = (word: string) => session.game.runs.some(({ name }) => name === word);
  const isWhole = (word: string) => whole(word, -1) >= 0;
  const areFaces = (word: string) =>
    throwsOf(word).every((dice) => dice.every((face) => face >= 1 && face <= session.game.faces));
  return {
    player: ["player", player],
    other: ["player", player],
    against: ["opponent", (word) => opponents(session.game).includes(word)],
    run: ["training", run],
    beside: ["training", (word) => word === "nothing" || run(word)],
    by: ["colouring", (word) => Object.hasOwn(SHADES, word)],
    method: ["method", (word) => Object.hasOwn(METHODS, word)],
    explore: ["exploration", (word) => EXPLORE.some((explore) => `${explore}` === word)],
    rate: ["learning rate", (word) => RATES.some((rate) => `${rate}` === word)],
    seed: ["seed", isWhole],
    step: ["step", isWhole],
    show: ["kind of value", (word) => Object.hasOwn(SHOWN, word)],
    own: ["throw", areFaces, "the game up to it"],
    turn: ["turn", (word) => ["first", "second"].includes(word)],
    coach: ["coach", (word) => Object.hasOwn(COACH, word)],
    challenge: ["challenge", (word) => /^(\d+(\.\d+)*)?$/.test(word)],
    replay: ["replay", (word) => word === "1"],
  };
}
