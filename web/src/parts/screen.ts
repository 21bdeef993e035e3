// Whether the screen is narrow or dark, whether its colours are the system's, and whether its user wants no motion.

import { signal, type ReadonlySignal } from "@preact/signals";

export const narrow = watched("(max-width: 820px)");
export const dark = watched("(prefers-color-scheme: dark)");
export const still = watched("(prefers-reduced-motion: reduce)");
export const forced = watched("(forced-colors: active)");

function watched(query: string): ReadonlySignal<boolean> {
  const media = matchMedia(query);
  const matches = signal(media.matches);
  media.addEventListener("change", () => (matches.value = media.matches));
  return matches;
}
