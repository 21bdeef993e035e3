// Throws and rolls: a throw lists the faces of the dice in order, a roll is what the rules make of them.

import { rollsAt, type Game } from "./game";

// Return the faces of the first throw that gives a roll, as `stb_gym.games.throw_faces` does.
export function facesOf(game: Game, afterstate: number, roll: number): number[] {
  const dice = game.dice[afterstate];
  const number = rollsAt(game, afterstate).ofThrow.indexOf(roll);
  return Array.from(
    { length: dice },
    (_, index) => (Math.floor(number / game.faces ** (dice - 1 - index)) % game.faces) + 1,
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

// Generate random fractions from integer seeds (mulberry32).
export function fractions(...seeds: number[]): () => number {
  let at = seeds.reduce((mixed, seed) => Math.imul(mixed ^ seed, 0x9e3779b1) + 0x7f4a7c15, 0) | 0;
  return () => {
    at = (at + 0x6d2b79f5) | 0;
    let mixed = Math.imul(at ^ (at >>> 15), 1 | at);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
