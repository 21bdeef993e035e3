// Axes: where a value lies between the ends of an axis, from 0 to 1, and values to name there.

export interface Scale {
  share: (value: number) => number;
  ticks: number[];
}

const MOST_TICKS = 6;

// From 0 to the greatest value.
export function linear(values: number[]): Scale {
  const most = Math.max(...values) || 1;
  const power = 10 ** Math.floor(Math.log10(most / MOST_TICKS));
  const step = power * [1, 2, 5, 10].find((factor) => most / (factor * power) <= MOST_TICKS)!;
  const ticks = Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, place) => rounded(place * step));
  return { share: (value) => value / most, ticks };
}

// From the least to the greatest positive value. If there are zeros, they lie at the lower end, which is the tick 0.
export function logarithmic(values: number[]): Scale {
  const positive = values.filter((value) => value > 0);
  const [least, most] = positive.length ? [Math.min(...positive), Math.max(...positive)] : [1, 1];
  const hasZeros = positive.length < values.length;
  const [low, high] = [Math.log10(least) - (hasZeros ? 0.7 : 0), Math.log10(most)];
  const share = (value: number) => Math.max(0, (Math.log10(value) - low) / (high - low || 1));
  const powers = Array.from({ length: Math.ceil(high) - Math.floor(low) + 1 }, (_, place) => Math.floor(low) + place);
  const ticks = [[1, 2, 5], [1, 3], [1]]
    .map((factors) => powers.flatMap((power) => factors.map((factor) => rounded(factor * 10 ** power))))
    .map((candidates) => candidates.filter((value) => value >= least / 1.001 && value <= most * 1.001))
    .find((candidates, place) => candidates.length <= MOST_TICKS || place === 2)!;
  return { share, ticks: hasZeros ? [0, ...ticks] : ticks };
}

function rounded(value: number): number {
  return Number(value.toPrecision(6));
}
