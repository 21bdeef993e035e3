// The address of the page names the view and what it shows, so that links work: "#board?open=1,4,5,8&roll=9".

import { signal } from "@preact/signals";

export type Words = Record<string, string>;

export interface Address {
  view: string;
  words: Words;
}

export const address = signal(read());
addEventListener("hashchange", () => (address.value = read()));

// Go to a view; `quietly` replaces the entry in the browser's history, as suits a slider.
export function go(view: string, words: Words, quietly = false): void {
  const hash = link(view, words);
  if (hash === location.hash) return;
  if (quietly) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
  address.value = { view, words };
}

export function link(view: string, words: Words): string {
  const said = Object.entries(words).map(([name, value]) => `${encodeURIComponent(name)}=${readable(value)}`);
  return `#${view}${said.length ? `?${said.join("&")}` : ""}`;
}

// Parse a whole number of the address; return `usual` for anything else.
export function whole(word: string | undefined, usual: number): number {
  return /^\d{1,15}$/.test(word ?? "") ? Number(word) : usual;
}

function readable(value: string): string {
  return encodeURIComponent(value).replaceAll("%2C", ",").replaceAll("%3A", ":");
}

function read(): Address {
  const [view, query] = location.hash.slice(1).split("?");
  return { view, words: Object.fromEntries(new URLSearchParams(query ?? "")) };
}
