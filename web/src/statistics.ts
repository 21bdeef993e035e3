// Statistics of a player over many games, in the browser's local storage if it allows that, else until the page closes.

import { signal, type ReadonlySignal } from "@preact/signals";
import type { Game } from "./data/game";

const VERSION = 1;
const LAST = 50; // answers of the drill that the rating counts
const GAMES = 200; // recent games that are remembered, so that none counts twice

const NOTHING = {
  turns: 0,
  points: 0, // sum of the final scores
  perfect: 0, // turns with the perfect score
  coached: 0, // turns played for points; `luck` and `lost` are sums over them
  luck: 0,
  lost: 0,
  rounds: 0, // games against an opponent
  won: 0,
  asked: 0, // questions of the drill
  streak: 0,
  longest: 0,
};

const DAYS = 366; // days of the dice of the day that are remembered
const DAY_MS = 86_400_000;

// A game with the dice of the day.
export interface Day {
  day: string; // "2026-11-25"
  points: number;
  lost: number; // by choices
}

export type Tally = typeof NOTHING & {
  days: Day[];
  answers: number[]; // the last answers of the drill: 1 if right, else 0
  games: string[];
};

// The result of a game; `account` is null unless it was played for points, `won` if there was no opponent.
export interface Result {
  points: number;
  perfect: boolean;
  account: { luck: number; lost: number } | null;
  won: boolean | null;
  day: string | null; // the day of the dice, if they are those of today
}

export interface Statistics {
  tally: ReadonlySignal<Tally>;
  update: (change: (tally: Tally) => Partial<Tally>) => void;
  reset: () => void;
}

export function keepStatistics(game: Game): Statistics {
  const key = `stb-gym:${game.title}`;
  const tally = signal(load(key) ?? empty());
  const save = (changed: Tally) => {
    tally.value = changed;
    stored((storage) => storage.setItem(key, JSON.stringify({ version: VERSION, ...changed })));
  };
  return {
    tally,
    // Another tab may have saved a newer tally.
    update: (change) => {
      const now = load(key) ?? tally.value;
      save({ ...now, ...change(now) });
    },
    reset: () => save(empty()),
  };
}

export function countAnswer({ update }: Statistics, right: boolean): void {
  update(({ asked, streak, longest, answers }) => {
    const now = right ? streak + 1 : 0;
    return {
      asked: asked + 1,
      streak: now,
      longest: Math.max(longest, now),
      answers: [...answers, right ? 1 : 0].slice(-LAST),
    };
  });
}

// Count a game once.
export function countGame({ update }: Statistics, name: string, { points, perfect, account, won, day }: Result): void {
  update((tally) => {
    if (tally.games.includes(name)) return {};
    return {
      turns: tally.turns + 1,
      points: tally.points + points,
      perfect: tally.perfect + Number(perfect),
      coached: tally.coached + (account ? 1 : 0),
      luck: tally.luck + (account?.luck ?? 0),
      lost: tally.lost + (account?.lost ?? 0),
      rounds: tally.rounds + (won === null ? 0 : 1),
      won: tally.won + (won ? 1 : 0),
      games: [...tally.games, name].slice(-GAMES),
      days: day && account ? [...tally.days, { day, points, lost: account.lost }].slice(-DAYS) : tally.days,
    };
  });
}

// Return the number of days in a row up to today, or up to yesterday before today's game.
export function rowOf(days: Day[], today: string): number {
  const ago = new Set(days.map(({ day }) => (Date.parse(today) - Date.parse(day)) / DAY_MS));
  const first = ago.has(0) ? 0 : 1;
  let count = 0;
  while (ago.has(first + count)) count += 1;
  return count;
}

function empty(): Tally {
  return { ...NOTHING, answers: [], games: [], days: [] };
}

// Read an entry field by field. Move it to another key if it cannot be read.
function load(key: string): Tally | null {
  return stored((storage) => {
    const text = storage.getItem(key);
    const tally = text === null ? null : tallyOf(text);
    if (text !== null && tally === null) {
      let other = `${key}:unreadable`;
      while (storage.getItem(other) !== null) other += "+";
      storage.setItem(other, text);
      storage.removeItem(key);
    }
    return tally;
  });
}

function tallyOf(text: string): Tally | null {
  try {
    const found = JSON.parse(text);
    const { answers, games, days = [] } = found; // earlier versions stored no days
    const names = Object.keys(NOTHING) as (keyof typeof NOTHING)[];
    const readable =
      found.version === VERSION &&
      names.every((name) => Number.isFinite(found[name])) &&
      Array.isArray(answers) &&
      answers.every((answer) => answer === 0 || answer === 1) &&
      Array.isArray(games) &&
      games.every((name) => typeof name === "string") &&
      Array.isArray(days) &&
      days.every(
        ({ day, points, lost }) => typeof day === "string" && Number.isFinite(points) && Number.isFinite(lost),
      );
    if (!readable) return null;
    const numbers = Object.fromEntries(names.map((name) => [name, found[name]])) as typeof NOTHING;
    return { ...numbers, answers: answers.slice(-LAST), games: games.slice(-GAMES), days: days.slice(-DAYS) };
  } catch {
    return null;
  }
}

// Use the local storage; return null if the browser refuses, as some do for a page on a disk.
export function stored<T>(use: (storage: Storage) => T): T | null {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}
