// Properties of the screen: narrow, dark, reduced motion, and colours forced by the system.

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
