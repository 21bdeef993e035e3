// Whether the screen is a narrow one, and whether it is dark; what draws with its own hands must know.

import { signal, type ReadonlySignal } from "@preact/signals";

export const narrow = watched("(max-width: 820px)");
export const dark = watched("(prefers-color-scheme: dark)");

function watched(query: string): ReadonlySignal<boolean> {
  const media = matchMedia(query);
  const matches = signal(media.matches);
  media.addEventListener("change", () => (matches.value = media.matches));
  return matches;
}
