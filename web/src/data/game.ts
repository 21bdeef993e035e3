// A game as arrays. Afterstates are sorted so that every move leads to an earlier one. There is a state for each
// afterstate and roll, and a pair for each state and legal move. No code of the page depends on the rules of a game.

import type { Numbers, Unpacked } from "./unpack";

export interface Part {
  name: string;
  words: string;
  listed: boolean;
  of: (number | number[])[]; // the value at each afterstate
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
  taken: number[][] | null; // the faces of the dice that each move takes, if moves take dice
  ends: string[];
  leads: { players: number; ties: Record<string, string> };
  optimum: Look;
  players: (Look & { how: string })[];
  runs: (Look & { objective: string; steps: number[]; regret: number[] })[];
}

export interface Position {
  afterstate: number;
  roll: number | null; // the index among the rolls of the afterstate; null before the throw
}

export interface Rolls {
  words: string[];
  counts: Numbers;
  total: number; // the sum of the counts
  ofThrow: Numbers;
}

// A policy. It has one pair at every state (-1 for an illegal action, or if there is no move), or the chances of pairs.
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
  dice: Numbers; // by afterstate, as the next three
  over: boolean[]; // whether no roll leaves a legal move
  scoreIndex: Numbers; // the index in `scores` if the turn ends there
  stateStart: Uint32Array;
  stateOrigin: Uint32Array; // by state, as the next two: the afterstate before the throw
  pairStart: Uint32Array;
  end: (state: number) => string; // why the turn ends there, if there is no move
  next: Numbers; // by pair, as `move`: the afterstate that it leads to
  move: Numbers;
  rolls: Map<number, Rolls>;
  leadValues: (ties: string) => Numbers; // see `roundValue` in `goals`
  players: Player[];
  runs: Run[];
}

export function makeGame(unpacked: Unpacked): Game {
  const { array } = unpacked;
  const facts = unpacked.facts as Facts;
  const dice = array("dice");
  const rolls = new Map(facts.throws.map((thrown) => [thrown, rollsOf(facts, thrown, array)]));
  const stateStart = running(Array.from(dice, (thrown) => rolls.get(thrown)!.words.length));
  const stateOrigin = repeated(stateStart);
  const pairStart = running(array("choices"));
  const game: Game = {
    ...facts,
    dice,
    over: Array.from(
      dice,
      (_, afterstate) => pairStart[stateStart[afterstate]] === pairStart[stateStart[afterstate + 1]],
    ),
    scoreIndex: array("score"),
    stateStart,
    stateOrigin,
    pairStart,
    end: endsOf(facts.ends, array("end"), pairStart),
    next: array("next"),
    move: array("move"),
    rolls,
    leadValues: (ties) => array(`lead-values-${ties}`),
    players: [],
    runs: [],
  };
  const decisions = decisionsOf(pairStart);
  game.players = facts.players.map((look, number) => {
    const plays = array(`player-${number}`);
    if (plays.length !== decisions.length || plays instanceof Float32Array) {
      return { ...look, chances: Float64Array.from(plays) };
    }
    return { ...look, pairs: pairsAt(pairStart, decisions, plays, 0, 1) };
  });
  game.runs = facts.runs.map((run, number) => {
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

// Return the probability of a state's roll, given its afterstate.
export function chanceOf(game: Game, state: number): number {
  const afterstate = game.stateOrigin[state];
  const { counts, total } = rollsAt(game, afterstate);
  return counts[state - game.stateStart[afterstate]] / total;
}

export function pairsOf(game: Game, state: number): number[] {
  const first = game.pairStart[state];
  return Array.from({ length: game.pairStart[state + 1] - first }, (_, index) => first + index);
}

export function stateInWords(game: Game, state: number): string {
  const afterstate = game.stateOrigin[state];
  return `${game.afterstates[afterstate]}, roll ${rollsAt(game, afterstate).words[state - game.stateStart[afterstate]]}`;
}

// Return the faces of the dice that a move takes.
export function takenBy(game: Game, pair: number): number[] {
  return (pair >= 0 && game.taken?.[game.move[pair]]) || [];
}

export function moveInWords(game: Game, pair: number): string {
  return pair < 0 ? "an illegal move" : game.moves[game.move[pair]];
}

function rollsOf(facts: Facts, dice: number, array: Unpacked["array"]): Rolls {
  const counts = array(`counts-${dice}`);
  const total = Array.from(counts).reduce((sum, count) => sum + count, 0);
  return { words: facts.rolls[dice], counts, total, ofThrow: array(`throws-${dice}`) };
}

function running(counts: ArrayLike<number>): Uint32Array {
  const sums = new Uint32Array(counts.length + 1);
  for (let index = 0; index < counts.length; index++) sums[index + 1] = sums[index] + counts[index];
  return sums;
}

function repeated(starts: Uint32Array): Uint32Array {
  const owner = new Uint32Array(starts[starts.length - 1]);
  for (let index = 0; index + 1 < starts.length; index++) owner.fill(index, starts[index], starts[index + 1]);
  return owner;
}

function decisionsOf(pairStart: Uint32Array): number[] {
  const states = Array.from({ length: pairStart.length - 1 }, (_, state) => state);
  return states.filter((state) => pairStart[state + 1] > pairStart[state]);
}

function pairsAt(pairStart: Uint32Array, decisions: number[], moves: Numbers, first: number, step: number): Int32Array {
  const pairs = new Int32Array(pairStart.length - 1).fill(-1);
  decisions.forEach((state, at) => {
    const move = moves[at * step + first];
    pairs[state] = move < 0 ? -1 : pairStart[state] + move;
  });
  return pairs;
}

function endsOf(texts: string[], which: Numbers, pairStart: Uint32Array): (state: number) => string {
  const endIndex = new Map<number, number>();
  for (let state = 0; state + 1 < pairStart.length; state++) {
    if (pairStart[state] === pairStart[state + 1]) endIndex.set(state, which[endIndex.size]);
  }
  return (state) => texts[endIndex.get(state) ?? -1] ?? "";
}
