// Axes of charts: the position of a number, from 0 to 1, and the round numbers of the ticks.

export interface Axis {
  at: (value: number) => number;
  ticks: number[];
}

const OF_ZERO = 0.07; // the share of a logarithmic axis below its smallest positive number, if there is a zero

// Return a logarithmic axis; `round` extends it to whole powers of ten. Zero is at its beginning.
export function logAxis(values: number[], round: boolean): Axis {
  const positive = values.filter((value) => value > 0);
  const [smallest, largest] = positive.length ? [Math.min(...positive), Math.max(...positive)] : [1, 10];
  const outwards = round ? [Math.floor, Math.ceil] : [Number, Number];
  const low = outwards[0](Math.log10(smallest));
  const high = Math.max(outwards[1](Math.log10(largest)), low + (round ? 1 : 0));
  const begin = positive.length < values.length ? OF_ZERO : 0;
  const at = (value: number) => (value > 0 ? begin + ((1 - begin) * (Math.log10(value) - low)) / (high - low || 1) : 0);
  const decades = roundBetween(10 ** low, 10 ** high, [1]);
  const ticks = decades.length > 2 ? decades : roundBetween(10 ** low, 10 ** high, [1, 2, 5]);
  return { at, ticks: begin ? [0, ...ticks] : ticks };
}

// Return the products of powers of ten and some digits between two positive numbers.
export function roundBetween(low: number, high: number, digits: number[]): number[] {
  const found: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high) + 1e-9; power++) {
    found.push(...digits.map((digit) => Number(`${digit}e${power}`)));
  }
  return found.filter((value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
}

// Return about as many round numbers as wanted, at equal distances.
export function evenTicks(low: number, high: number, wanted: number): number[] {
  if (!(high > low)) return [low];
  const [step] = roundBetween((high - low) / wanted, high - low, [1, 2, 5]);
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: count }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

export function countShown(count: number): string {
  const [size, unit] = count >= 1e6 ? [1e6, " M"] : count >= 1e3 ? [1e3, " k"] : [1, ""];
  return `${Number((count / size).toPrecision(3))}${unit}`;
}

export function tickShown(value: number): string {
  return value > 0 && value < 1e-4 ? value.toExponential() : `${value}`;
}

// Move labels apart, to at least `gap` from each other and not below `bottom`. Return their new places in the same order.
export function apart(places: number[], gap: number, bottom: number): number[] {
  const order = places.map((_, index) => index).sort((one, other) => places[one] - places[other]);
  const moved = [...places];
  order.forEach((index, at) => {
    if (at > 0) moved[index] = Math.max(moved[index], moved[order[at - 1]] + gap);
  });
  let limit = bottom;
  for (const index of order.reverse()) {
    moved[index] = Math.min(moved[index], limit);
    limit = moved[index] - gap;
  }
  return moved;
}
