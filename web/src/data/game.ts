// A game as arrays: states, sorted so that every edge leads to an earlier one; nodes, one for each state and roll; edges,
// one for each legal move at a node. Nothing here or elsewhere on the page knows a rule.

import type { Numbers, Unpacked } from "./unpack";

export interface Part {
  name: string;
  words: string;
  listed: boolean;
  of: (number | number[])[]; // by state
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
  states: string[];
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
  state: number;
  roll: number | null; // among the rolls of the state; null before the throw
}

export interface Rolls {
  words: string[];
  counts: Numbers;
  total: number; // of the counts
  ofThrow: Numbers;
}

// Whose moves are known: one edge at every node (-1 where there is none, or an illegal action), or chances of edges.
export interface Player extends Look {
  how: string;
  edges?: Int32Array;
  chances?: Float64Array;
}

export interface Run extends Look {
  objective: string;
  steps: number[];
  regret: number[];
  player: (measurement: number) => Player;
}

export interface Game extends Omit<Facts, "rolls" | "players" | "runs"> {
  dice: Numbers; // by state, as is what follows
  over: boolean[]; // whether nothing is to be chosen any more, whatever is thrown
  score: Numbers; // where in `scores` a turn is that ends there
  nodeStart: Uint32Array;
  nodeState: Uint32Array; // by node, as is what follows
  edgeStart: Uint32Array;
  end: (node: number) => string; // why the turn ends at a node without a move
  next: Numbers; // by edge, as is what follows
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
  const nodeStart = running(Array.from(dice, (thrown) => rolls.get(thrown)!.words.length));
  const nodeState = repeated(nodeStart);
  const edgeStart = running(array("choices"));
  const game: Game = {
    ...known,
    dice,
    over: Array.from(dice, (_, state) => edgeStart[nodeStart[state]] === edgeStart[nodeStart[state + 1]]),
    score: array("score"),
    nodeStart,
    nodeState,
    edgeStart,
    end: endsOf(known.ends, array("end"), edgeStart),
    next: array("next"),
    move: array("move"),
    rolls,
    worth: (ties) => array(`worth-${ties}`),
    players: [],
    runs: [],
  };
  const decisions = decisionsOf(edgeStart);
  game.players = known.players.map((look, number) => {
    const plays = array(`player-${number}`);
    if (plays.length !== decisions.length || plays instanceof Float32Array) {
      return { ...look, chances: Float64Array.from(plays) };
    }
    return { ...look, edges: edgesAt(edgeStart, decisions, plays, 0, 1) };
  });
  game.runs = known.runs.map((run, number) => {
    const [plays, measurements] = [array(`run-${number}`), run.steps.length];
    const players: Player[] = [];
    const player = (at: number) =>
      (players[at] ??= { ...run, how: "", edges: edgesAt(edgeStart, decisions, plays, at, measurements) });
    return { ...run, player };
  });
  return game;
}

export function nodeOf(game: Game, state: number, roll: number): number {
  return game.nodeStart[state] + roll;
}

export function positionOf(game: Game, node: number): Position {
  const state = game.nodeState[node];
  return { state, roll: node - game.nodeStart[state] };
}

export function rollsAt(game: Game, state: number): Rolls {
  return game.rolls.get(game.dice[state])!;
}

// The chance of the roll of a node.
export function chanceOf(game: Game, node: number): number {
  const state = game.nodeState[node];
  const { counts, total } = rollsAt(game, state);
  return counts[node - game.nodeStart[state]] / total;
}

export function edgesOf(game: Game, node: number): number[] {
  const first = game.edgeStart[node];
  return Array.from({ length: game.edgeStart[node + 1] - first }, (_, place) => first + place);
}

export function nodeInWords(game: Game, node: number): string {
  const state = game.nodeState[node];
  return `${game.states[state]}, roll ${rollsAt(game, state).words[node - game.nodeStart[state]]}`;
}

export function moveInWords(game: Game, edge: number): string {
  return edge < 0 ? "an illegal move" : game.moves[game.move[edge]];
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

function decisionsOf(edgeStart: Uint32Array): number[] {
  const nodes = Array.from({ length: edgeStart.length - 1 }, (_, node) => node);
  return nodes.filter((node) => edgeStart[node + 1] > edgeStart[node]);
}

function edgesAt(
  edgeStart: Uint32Array,
  decisions: number[],
  places: Numbers,
  first: number,
  step: number,
): Int32Array {
  const edges = new Int32Array(edgeStart.length - 1).fill(-1);
  decisions.forEach((node, at) => {
    const place = places[at * step + first];
    edges[node] = place < 0 ? -1 : edgeStart[node] + place;
  });
  return edges;
}

function endsOf(texts: string[], which: Numbers, edgeStart: Uint32Array): (node: number) => string {
  const place = new Map<number, number>();
  for (let node = 0; node + 1 < edgeStart.length; node++) {
    if (edgeStart[node] === edgeStart[node + 1]) place.set(node, which[place.size]);
  }
  return (node) => texts[place.get(node) ?? -1] ?? "";
}
