// A game as arrays: afterstates, sorted so that every pair leads to an earlier one; states, one for each afterstate and roll; pairs,
// one for each legal move at a state. Nothing here or elsewhere on the page knows a rule.

import type { Numbers, Unpacked } from "./unpack";

export interface Part {
  name: string;
  words: string;
  listed: boolean;
  of: (number | number[])[]; // by afterstate
}

export interface Look {
  name: string;
  colour: string;
  dashes: number[];
}

interface Facts {
  title: string;
  introduction: string;
  how: string[];
  perfection: string;
  best: string;
  start: number;
  sign: number;
  perfect: number;
  faces: number;
  throws: number[];
  scores: number[];
  points: string[];
  goals: string[];
  ended: string[];
  afterstates: string[];
  parts: Part[];
  rolls: Record<number, string[]>;
  moves: string[];
  ends: string[];
  leads: { players: number; ties: Record<string, string> };
  optimum: Look;
  players: (Look & { how: string })[];
  runs: (Look & { objective: string; steps: number[]; regret: number[] })[];
}

export interface Position {
  afterstate: number;
  roll: number | null; // among the rolls of the afterstate; null before the throw
}

export interface Rolls {
  words: string[];
  counts: Numbers;
  total: number; // of the counts
  ofThrow: Numbers;
}

// Whose moves are known: one pair at every state (-1 where there is none, or an illegal action), or chances of pairs.
export interface Player extends Look {
  how: string;
  pairs?: Int32Array;
  chances?: Float64Array;
}

export interface Run extends Look {
  objective: string;
  steps: number[];
  regret: number[];
  player: (measurement: number) => Player;
}

export interface Game extends Omit<Facts, "rolls" | "players" | "runs"> {
  dice: Numbers; // by afterstate, as is what follows
  over: boolean[]; // whether nothing is to be chosen any more, whatever is thrown
  score: Numbers; // where in `scores` a turn is that ends there
  stateStart: Uint32Array;
  stateOrigin: Uint32Array; // by state, as is what follows
  pairStart: Uint32Array;
  end: (state: number) => string; // why the turn ends at a state without a move
  next: Numbers; // by pair, as is what follows
  move: Numbers;
  rolls: Map<number, Rolls>;
  worth: (ties: string) => Numbers; // of leads, see `goals`
  players: Player[];
  runs: Run[];
}

export function makeGame({ facts, array }: Unpacked): Game {
  const known = facts as Facts;
  const dice = array("dice");
  const rolls = new Map(known.throws.map((thrown) => [thrown, rollsOf(known, thrown, array)]));
  const stateStart = running(Array.from(dice, (thrown) => rolls.get(thrown)!.words.length));
  const stateOrigin = repeated(stateStart);
  const pairStart = running(array("choices"));
  const game: Game = {
    ...known,
    dice,
    over: Array.from(
      dice,
      (_, afterstate) => pairStart[stateStart[afterstate]] === pairStart[stateStart[afterstate + 1]],
    ),
    score: array("score"),
    stateStart,
    stateOrigin,
    pairStart,
    end: endsOf(known.ends, array("end"), pairStart),
    next: array("next"),
    move: array("move"),
    rolls,
    worth: (ties) => array(`worth-${ties}`),
    players: [],
    runs: [],
  };
  const decisions = decisionsOf(pairStart);
  game.players = known.players.map((look, number) => {
    const plays = array(`player-${number}`);
    if (plays.length !== decisions.length || plays instanceof Float32Array) {
      return { ...look, chances: Float64Array.from(plays) };
    }
    return { ...look, pairs: pairsAt(pairStart, decisions, plays, 0, 1) };
  });
  game.runs = known.runs.map((run, number) => {
    const [plays, measurements] = [array(`run-${number}`), run.steps.length];
    const players: Player[] = [];
    const player = (at: number) =>
      (players[at] ??= { ...run, how: "", pairs: pairsAt(pairStart, decisions, plays, at, measurements) });
    return { ...run, player };
  });
  return game;
}

export function stateOf(game: Game, afterstate: number, roll: number): number {
  return game.stateStart[afterstate] + roll;
}

export function positionOf(game: Game, state: number): Position {
  const afterstate = game.stateOrigin[state];
  return { afterstate, roll: state - game.stateStart[afterstate] };
}

export function rollsAt(game: Game, afterstate: number): Rolls {
  return game.rolls.get(game.dice[afterstate])!;
}

// The chance of the roll of a state.
export function chanceOf(game: Game, state: number): number {
  const afterstate = game.stateOrigin[state];
  const { counts, total } = rollsAt(game, afterstate);
  return counts[state - game.stateStart[afterstate]] / total;
}

export function pairsOf(game: Game, state: number): number[] {
  const first = game.pairStart[state];
  return Array.from({ length: game.pairStart[state + 1] - first }, (_, place) => first + place);
}

export function stateInWords(game: Game, state: number): string {
  const afterstate = game.stateOrigin[state];
  return `${game.afterstates[afterstate]}, roll ${rollsAt(game, afterstate).words[state - game.stateStart[afterstate]]}`;
}

export function moveInWords(game: Game, pair: number): string {
  return pair < 0 ? "an illegal move" : game.moves[game.move[pair]];
}

function rollsOf(known: Facts, dice: number, array: Unpacked["array"]): Rolls {
  const counts = array(`counts-${dice}`);
  const total = Array.from(counts).reduce((sum, count) => sum + count, 0);
  return { words: known.rolls[dice], counts, total, ofThrow: array(`throws-${dice}`) };
}

function running(counts: ArrayLike<number>): Uint32Array {
  const sums = new Uint32Array(counts.length + 1);
  for (let place = 0; place < counts.length; place++) sums[place + 1] = sums[place] + counts[place];
  return sums;
}

function repeated(starts: Uint32Array): Uint32Array {
  const owner = new Uint32Array(starts[starts.length - 1]);
  for (let place = 0; place + 1 < starts.length; place++) owner.fill(place, starts[place], starts[place + 1]);
  return owner;
}

function decisionsOf(pairStart: Uint32Array): number[] {
  const states = Array.from({ length: pairStart.length - 1 }, (_, state) => state);
  return states.filter((state) => pairStart[state + 1] > pairStart[state]);
}

function pairsAt(
  pairStart: Uint32Array,
  decisions: number[],
  places: Numbers,
  first: number,
  step: number,
): Int32Array {
  const pairs = new Int32Array(pairStart.length - 1).fill(-1);
  decisions.forEach((state, at) => {
    const place = places[at * step + first];
    pairs[state] = place < 0 ? -1 : pairStart[state] + place;
  });
  return pairs;
}

function endsOf(texts: string[], which: Numbers, pairStart: Uint32Array): (state: number) => string {
  const place = new Map<number, number>();
  for (let state = 0; state + 1 < pairStart.length; state++) {
    if (pairStart[state] === pairStart[state + 1]) place.set(state, which[place.size]);
  }
  return (state) => texts[place.get(state) ?? -1] ?? "";
}
