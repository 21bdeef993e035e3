// The name of a player beside its colour, which has the same hue in every picture of the library.

import type { Look } from "../data/game";

// A colour that contrasts with its ground: darker on paper than in the dark, where the optimum, which is black, is white.
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
