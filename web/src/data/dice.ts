// The dice behind a roll: a throw that gives it, and the roll that a throw gives.

import { rollsAt, type Game } from "./game";

// The faces of the first throw that gives a roll; the same as `stb_gym.games.throw_faces`.
export function facesOf(game: Game, state: number, roll: number): number[] {
  const dice = game.dice[state];
  const number = rollsAt(game, state).ofThrow.indexOf(roll);
  return Array.from({ length: dice }, (_, place) => (Math.floor(number / game.faces ** (dice - 1 - place)) % game.faces) + 1);
}

export function rollOf(game: Game, state: number, faces: number[]): number {
  return rollsAt(game, state).ofThrow[faces.reduce((number, face) => number * game.faces + face - 1, 0)];
}

// Faces of a throw that depend on a seed and on which throw it is, and on nothing else (mulberry32).
export function thrown(game: Game, state: number, seed: number): number[] {
  let at = Math.imul(seed, 0x9e3779b1) | 0;
  return Array.from({ length: game.dice[state] }, () => {
    at = (at + 0x6d2b79f5) | 0;
    let mixed = Math.imul(at ^ (at >>> 15), 1 | at);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % game.faces + 1;
  });
}
