// The name of a player beside a piece of its line.

import type { Look } from "../data/game";

// Return a colour with enough contrast to the background: darker in the light scheme. The black of the optimum becomes
// white in the dark scheme.
export function inkOf(colour: string): string {
  return colour === "#000000" ? "var(--ink)" : `light-dark(color-mix(in srgb, ${colour} 75%, black), ${colour})`;
}

export function Badge({ look, note }: { look: Look; note?: string }) {
  return (
    <span class="badge">
      <svg viewBox="0 0 30 10" aria-hidden="true">
        <line
          x2="30"
          y1="5"
          y2="5"
          stroke={inkOf(look.colour)}
          stroke-width="4"
          stroke-dasharray={look.dashes.map((length) => 2 * length).join(" ")}
        />
      </svg>
      {look.name}
      {note && <small> {note}</small>}
    </span>
  );
}
