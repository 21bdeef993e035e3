// Name in one line the part of a link that the page does not have. The page then shows its default instead.

import type { Address } from "./address";
import { positionFromWords } from "./data/positions";
import { GOAL_WORDS, goalToWords, inWords } from "./exact/goals";
import { EXPLORE, RATES } from "./learn/settings";
import { SHADES } from "./map/shades";
import type { Session } from "./session";

interface Shown {
  view: string;
  words: string; // the name of the view
  reads?: string[]; // the words of the address that it reads besides those of positions and goals; all if undefined
}

export function noticeOf(session: Session, { view, words }: Address, shown: Shown): string | null {
  const { game } = session;
  const said = (names: string[]) => names.filter((name) => name in words).map((name) => `${name}=${words[name]}`);
  const missing = (what: string, asked: string, instead: string) =>
    `This link names a ${what} does not have: ${asked}; shown is ${instead}.`;
  if (view && view !== shown.view) return missing("view that the page", view, shown.words);
  const ofPosition = [...game.parts.map(({ name }) => name), "roll"];
  if (!positionFromWords(game, words)) {
    return missing("position that the game", said(ofPosition).join(", "), "the start");
  }
  const goal = session.goal.value;
  const understood: Record<string, string> = { for: "score", ...goalToWords(game, goal) };
  const wrongGoal =
    goal.kind === "round"
      ? GOAL_WORDS.some((name) => name in words && words[name] !== understood[name])
      : goal.kind === "score" && (words.for ?? "score") !== "score";
  if (wrongGoal) return missing("goal that the game", said(GOAL_WORDS).join(", "), inWords(game, goal));
  const checks = checksOf(session);
  for (const [name, word] of Object.entries(words)) {
    const [what, there] = checks[name] ?? [];
    if (there && !there(word)) return missing(`${what} that the page`, word, "the usual one");
  }
  const known = [...ofPosition, ...GOAL_WORDS, ...(shown.reads ?? Object.keys(words))];
  const unknown = said(Object.keys(words).filter((name) => !known.includes(name)));
  return unknown.length ? `This link has words that the page does not know: ${unknown.join(", ")}.` : null;
}

function checksOf(session: Session): Record<string, [what: string, there: (word: string) => boolean]> {
  const player = (word: string) => session.everybody(session.solved.value).some(({ name }) => name === word);
  const run = (word: string) => session.game.runs.some(({ name }) => name === word);
  const whole = (word: string) => /^\d{1,15}$/.test(word);
  return {
    player: ["player", player],
    other: ["player", player],
    against: ["player", player],
    run: ["training", run],
    beside: ["training", (word) => word === "nothing" || run(word)],
    by: ["colouring", (word) => Object.hasOwn(SHADES, word)],
    explore: ["exploration", (word) => EXPLORE.some((explore) => `${explore}` === word)],
    rate: ["learning rate", (word) => RATES.some((rate) => `${rate}` === word)],
    seed: ["seed", whole],
    step: ["step", whole],
  };
}
