// The name of a player beside its colour, which is the same in every picture of the library.

import type { Look } from "../data/game";

export function inkOf(colour: string): string {
  return colour === "#000000" ? "var(--ink)" : colour; // the optimum is black on paper and white in the dark
}

export function Badge({ look, note }: { look: Look; note?: string }) {
  return (
    <span class="badge">
      <svg viewBox="0 0 12 12" aria-hidden="true">
        <circle
          cx="6"
          cy="6"
          r={look.dashes.length ? 3.6 : 5}
          fill={look.dashes.length ? "none" : inkOf(look.colour)}
          stroke={inkOf(look.colour)}
          stroke-width="2.4"
        />
      </svg>
      {look.name}
      {note && <small> {note}</small>}
    </span>
  );
}
