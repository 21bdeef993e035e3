// A game, computed from the address: the opponent, the seed of the dice, and the player's moves so far.

import { whole, type Words } from "../address";
import { areDice, fractions, rollOf, thrown } from "../data/dice";
import { pairsOf, stateOf, type Game, type Player } from "../data/game";
import { goalFromWords, type Goal } from "../exact/goals";
import { scoreChances } from "../exact/sweep";
import type { Solved } from "../exact/solved";
import type { Session } from "../session";

export const COACH = { during: "after every move", after: "at the end", never: "never" };
const [MINE, THEIRS, CHOICES] = [1, 2, 3]; // random streams: the player's dice, the opponent's dice and choices
const FIRST_PLAYER: Goal = { kind: "round", ties: "split", lead: null, holders: 0, after: 1 };

export interface Setup {
  seed: number;
  own: number[][] | null; // throws of real dice; null if the seed gives the throws
  against: string | null; // the name of the opponent
  second: boolean; // whether the opponent begins
  coach: keyof typeof COACH;
  played: number[]; // the index of each of the player's moves among the legal ones
  challenge: number[] | null; // the moves that another player made with these dice
}

// A throw and the move after it; the pair is -1 if the move is not chosen yet, or if there is none.
export interface Step {
  afterstate: number;
  faces: number[];
  state: number;
  pair: number;
}

export interface Turn {
  steps: Step[];
  waiting: "throw" | "choice" | null;
  end: number; // the last afterstate, or the current one
}

export interface Played {
  solved: Solved; // perfect play for the player's goal
  mine: Turn;
  theirs: Turn | null; // null if there is no opponent, or before the opponent's turn
  over: boolean;
  ideal: Turn; // perfect play with the player's dice; it waits if real dice are not thrown
}

export function anySeed(): number {
  return 1 + Math.floor(999999 * Math.random());
}

// Return the seed of the dice of the day, which is the date: 20261125.
export function seedOfToday(): number {
  const now = new Date();
  return 10000 * now.getFullYear() + 100 * (now.getMonth() + 1) + now.getDate();
}

export function today(): string {
  return dayOf(seedOfToday())!;
}

// Return "2026-11-25" for the seed 20261125, null for a seed that is not a date.
export function dayOf(seed: number): string | null {
  const date = `${seed}`.replace(/^(20\d\d)(\d\d)(\d\d)$/, "$1-$2-$3");
  return date.includes("-", 1) && !Number.isNaN(Date.parse(date)) ? date : null;
}

export function opponents(game: Game): string[] {
  return [game.optimum.name, ...game.players.map(({ name }) => name)];
}

export function setupFromWords(game: Game, words: Words, otherwise: number): Setup {
  return {
    seed: whole(words.seed, otherwise),
    own: words.own === undefined ? null : throwsOf(words.own),
    against: opponents(game).includes(words.against) ? words.against : null,
    second: words.turn === "second",
    coach: Object.hasOwn(COACH, words.coach ?? "") ? (words.coach as Setup["coach"]) : "during",
    played: movesOf(words.played),
    challenge: words.challenge === undefined ? null : movesOf(words.challenge),
  };
}

function movesOf(words: string | undefined): number[] {
  return words ? words.split(".").map((index) => whole(index, NaN)) : [];
}

// Parse "64.31": a throw of 6 and 4, then one of 3 and 1. Letters are faces above 9.
export function throwsOf(words: string): number[][] {
  const throws = words.split(".").filter(Boolean);
  return throws.map((dice) => [...dice].map((face) => Number.parseInt(face, 36)));
}

export function setupToWords({ seed, own, against, second, coach, played, challenge }: Setup): Words {
  return {
    seed: `${seed}`,
    ...(own === null ? {} : { own: own.map((dice) => dice.map((face) => face.toString(36)).join("")).join(".") }),
    ...(against === null ? {} : { against, turn: second ? "second" : "first" }),
    coach,
    ...(challenge === null ? {} : { challenge: challenge.join(".") }),
    ...(played.length ? { played: played.join(".") } : {}),
  };
}

// Return whether the player throws real dice and enters them.
export function isEntered({ own, challenge }: Setup): boolean {
  return own !== null && challenge === null;
}

// Play the game up to the last move in the address, with at most so many throws.
export function play(session: Session, setup: Setup, words: Words, throws = Infinity): Played {
  const { game } = session;
  const { against, second, seed, own, played, challenge } = setup;
  const seeded = (whose: number) => (afterstate: number, at: number) =>
    thrown(game, afterstate, fractions(seed, whose, at));
  const choose = (state: number, at: number) => pairsOf(game, state)[played[at]] ?? null;
  const dice = (afterstate: number, at: number) => {
    if (own?.[at] !== undefined && areDice(game, afterstate, own[at])) return own[at];
    return own === null || challenge !== null ? seeded(MINE)(afterstate, at) : null;
  };
  const thrownDice = (afterstate: number, at: number) =>
    at < throws || isEntered(setup) ? dice(afterstate, at) : null;
  const begun =
    against !== null && second
      ? turn(game, seeded(THEIRS), choiceOf(game, against, session.solve(FIRST_PLAYER), seed))
      : null;
  const goal = wanted(session, setup, begun && game.scoreIndex[begun.end], words);
  const solved = session.solve(goal);
  const mine = turn(game, thrownDice, choose);
  const ideal = turn(game, dice, (state) => solved.perfect.pairs![state]);
  if (against === null || begun || mine.waiting) return { solved, mine, theirs: begun, over: !mine.waiting, ideal };
  const reply = session.solve({ kind: "round", ties: "split", lead: game.scoreIndex[mine.end], holders: 1, after: 0 });
  const theirs = turn(game, seeded(THEIRS), choiceOf(game, against, reply, seed));
  return { solved, mine, theirs, over: true, ideal };
}

// Return the player's share of the win once both turns have ended: 1, 1/2 or 0.
export function share(game: Game, mine: Turn, theirs: Turn): number {
  const apart = game.scoreIndex[theirs.end] - game.scoreIndex[mine.end];
  return apart > 0 ? 1 : apart < 0 ? 0 : 1 / 2;
}

function wanted(session: Session, { against, second }: Setup, lead: number | null, words: Words): Goal {
  const { game } = session;
  if (against === null) return goalFromWords(game, words);
  if (second) return { kind: "round", ties: "split", lead, holders: 1, after: 0 };
  if (against === game.optimum.name) return FIRST_PLAYER;
  const chances = scoreChances(game, session.visits(named(game, against)!));
  const worse = chances.map((_, index) => chances.subarray(index + 1).reduce((sum, chance) => sum + chance, 0));
  return {
    kind: "share",
    utility: worse.map((chance, index) => chance + chances[index] / 2),
    words: `the win against ${against}`,
  };
}

export function nameOf(game: Game, player: string): string {
  return player === game.optimum.name ? "The perfect player" : player;
}

function named(game: Game, name: string): Player | undefined {
  return game.players.find((player) => player.name === name);
}

// Return how the opponent chooses: its usual pair at each state, or a sampled one, or the optimal one of `solved`.
function choiceOf(game: Game, name: string, solved: Solved, seed: number): (state: number, at: number) => number {
  const player = named(game, name) ?? solved.perfect;
  if (player.pairs) return (state) => player.pairs![state];
  return (state, at) => {
    const drawn = fractions(seed, CHOICES, at)();
    let sum = 0;
    return pairsOf(game, state).find((pair) => (sum += player.chances![pair]) > drawn) ?? pairsOf(game, state)[0];
  };
}

function turn(
  game: Game,
  dice: (afterstate: number, at: number) => number[] | null,
  choose: (state: number, at: number) => number | null,
): Turn {
  const steps: Step[] = [];
  let afterstate = game.start;
  while (!game.over[afterstate]) {
    const faces = dice(afterstate, steps.length);
    if (faces === null) return { steps, waiting: "throw", end: afterstate };
    const state = stateOf(game, afterstate, rollOf(game, afterstate, faces));
    const none = game.pairStart[state] === game.pairStart[state + 1];
    const pair = none ? -1 : choose(state, steps.length);
    steps.push({ afterstate, faces, state, pair: pair ?? -1 });
    if (pair === null || none || pair < 0) return { steps, waiting: pair === null ? "choice" : null, end: afterstate };
    afterstate = game.next[pair];
  }
  return { steps, waiting: null, end: afterstate };
}
