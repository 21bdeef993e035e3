// The dice behind a roll: a throw that gives it, and the roll that a throw gives.

import { rollsAt, type Game } from "./game";

// The faces of the first throw that gives a roll; the same as `stb_gym.games.throw_faces`.
export function facesOf(game: Game, afterstate: number, roll: number): number[] {
  const dice = game.dice[afterstate];
  const number = rollsAt(game, afterstate).ofThrow.indexOf(roll);
  return Array.from(
    { length: dice },
    (_, place) => (Math.floor(number / game.faces ** (dice - 1 - place)) % game.faces) + 1,
  );
}

export function rollOf(game: Game, afterstate: number, faces: number[]): number {
  return rollsAt(game, afterstate).ofThrow[faces.reduce((number, face) => number * game.faces + face - 1, 0)];
}

export function thrown(game: Game, afterstate: number, chances: () => number): number[] {
  return Array.from({ length: game.dice[afterstate] }, () => Math.floor(chances() * game.faces) + 1);
}

export function areDice(game: Game, afterstate: number, faces: number[]): boolean {
  return (
    faces.length === game.dice[afterstate] && faces.every((face) => face >= 1 && face <= game.faces && face % 1 === 0)
  );
}

// Random fractions that depend on whole numbers, such as a seed, and on nothing else (mulberry32).
export function fractions(...seeds: number[]): () => number {
  let at = seeds.reduce((mixed, seed) => Math.imul(mixed ^ seed, 0x9e3779b1) + 0x7f4a7c15, 0) | 0;
  return () => {
    at = (at + 0x6d2b79f5) | 0;
    let mixed = Math.imul(at ^ (at >>> 15), 1 | at);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
