// Whether the screen is narrow or dark, and whether its colours are the system's.

import { signal, type ReadonlySignal } from "@preact/signals";

export const narrow = watched("(max-width: 820px)");
export const dark = watched("(prefers-color-scheme: dark)");
export const forced = watched("(forced-colors: active)");

function watched(query: string): ReadonlySignal<boolean> {
  const media = matchMedia(query);
  const matches = signal(media.matches);
  media.addEventListener("change", () => (matches.value = media.matches));
  return matches;
}
