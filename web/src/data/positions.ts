// Positions in the words of the address: parts such as the open tiles, and the roll.

import { areDice, rollOf } from "./dice";
import { rollsAt, type Game, type Part, type Position } from "./game";

// Return the position that words name, by default the start; null if the game has no such position.
export function positionFromWords(game: Game, words: Record<string, string>): Position | null {
  const asked = game.parts.filter((part) => Object.hasOwn(words, part.name));
  const wanted = asked.map((part) => (part.listed ? sorted(words[part.name]) : words[part.name]));
  const fits = (afterstate: number) => asked.every((part, at) => `${part.of[afterstate]}` === wanted[at]);
  const afterstates = game.afterstates.map((_, afterstate) => afterstate).filter(fits);
  const usual = fits(game.start) ? game.start : afterstates.at(-1);
  if (usual === undefined) return null;
  if (words.roll === undefined) return { afterstate: usual, roll: null };
  for (const afterstate of [usual, ...afterstates]) {
    const roll = rollFromWords(game, afterstate, words.roll);
    if (roll !== null) return { afterstate, roll };
  }
  return null;
}

function sorted(list: string): string {
  return `${list.split(",").sort((one, other) => Number(one) - Number(other))}`;
}

// Return the roll with a name, or of faces in any order; null if the afterstate has no such roll.
function rollFromWords(game: Game, afterstate: number, words: string): number | null {
  if (game.over[afterstate]) return null;
  const called = rollsAt(game, afterstate).words.indexOf(words);
  if (called >= 0) return called;
  const faces = words.split(",").map(Number);
  return areDice(game, afterstate, faces) ? rollOf(game, afterstate, faces) : null;
}

export function positionToWords(game: Game, { afterstate, roll }: Position): Record<string, string> {
  const words: Record<string, string> = {};
  for (const part of game.parts) {
    if (part.listed || varies(game, part, afterstate)) words[part.name] = `${part.of[afterstate]}`;
  }
  if (roll !== null) words.roll = rollsAt(game, afterstate).words[roll];
  return words;
}

// Return whether the address must name a part: whether other afterstates differ in this part alone.
function varies(game: Game, part: Part, afterstate: number): boolean {
  return alternatives(game, part, afterstate).length > 1;
}

// Return the values of a part at the afterstates that have the same other parts, sorted.
export function alternatives(game: Game, part: Part, afterstate: number): number[] {
  const others = game.parts.filter((other) => other !== part);
  const same = (at: number) => others.every((other) => `${other.of[at]}` === `${other.of[afterstate]}`);
  const values = part.of.filter((_, at) => same(at));
  return [...new Set(values as number[])].sort((one, other) => one - other);
}

// Return all values of a part, sorted; of a list, all entries.
export function everyValue(part: Part): number[] {
  return [...new Set(part.of.flat())].sort((one, other) => one - other);
}

// Return the afterstate with another value of one part whose other parts differ least; null if there is none.
export function changed(game: Game, afterstate: number, part: Part, value: number | number[]): number | null {
  let best: number | null = null;
  let least = Infinity;
  game.afterstates.forEach((_, at) => {
    if (`${part.of[at]}` !== `${value}`) return;
    const distance = game.parts.reduce(
      (sum, other) => sum + (other === part ? 0 : apart(other.of[at], other.of[afterstate])),
      0,
    );
    if (distance < least) [best, least] = [at, distance];
  });
  return best;
}

function apart(one: number | number[], other: number | number[]): number {
  const [a, b] = [[one].flat(), [other].flat()];
  if (!Array.isArray(one)) return Math.abs(a[0] - b[0]);
  return a.filter((entry) => !b.includes(entry)).length + b.filter((entry) => !a.includes(entry)).length;
}
