// A die with pips; with a number if the face is above 6.

const PIPS: Record<number, number[]> = {
  1: [4],
  2: [2, 6],
  3: [2, 4, 6],
  4: [0, 2, 6, 8],
  5: [0, 2, 4, 6, 8],
  6: [0, 2, 3, 5, 6, 8],
};

export function Die({ face }: { face: number | null }) {
  return (
    <svg class={face === null ? "die blank" : "die"} viewBox="0 0 64 64" aria-hidden="true">
      <rect x="2" y="3" width="60" height="60" rx="13" class="edge" />
      <rect x="2" y="1" width="60" height="59" rx="13" class="face" />
      {face !== null && !(face in PIPS) && (
        <text x="32" y="42" text-anchor="middle">
          {face}
        </text>
      )}
      {(PIPS[face ?? 0] ?? []).map((place) => (
        <circle cx={15 + 17 * (place % 3)} cy={14 + 17 * Math.floor(place / 3)} r="5.6" />
      ))}
    </svg>
  );
}
