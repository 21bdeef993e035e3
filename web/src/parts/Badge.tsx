// The name of a player beside a dot of its colour.

import type { Look } from "../data/game";

// Return a colour with enough contrast to the background: darker in the light scheme. The black of the optimum becomes
// white in the dark scheme.
export function inkOf(colour: string): string {
  return colour === "#000000" ? "var(--ink)" : `light-dark(color-mix(in srgb, ${colour} 75%, black), ${colour})`;
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
