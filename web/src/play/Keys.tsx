// The keys of a game, and a dialog that lists them.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

export interface Key {
  key: string; // as in a KeyboardEvent
  words: string;
  press?: () => void; // undefined while the key does nothing
}

interface Props {
  keys: Key[];
  number: string; // describes what digits do
  enterNumber: (number: number) => void;
}

const RADIX = 36; // letters are numbers from ten on, unless they are keys themselves
const ELSEWHERE = "input, select, textarea, dialog, summary, [role=slider]";

export function Keys({ keys, number, enterNumber }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const on = useSignal(true);
  const all = [...keys, { key: "?", words: "show these keys", press: () => dialog.current!.showModal() }];
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      const target = event.target as Element;
      if (!on.value || event.ctrlKey || event.altKey || event.metaKey || target.closest(ELSEWHERE)) return;
      if (event.key === "Enter" && target.closest("a, button")) return;
      const known = all.find(({ key }) => key.toLowerCase() === event.key.toLowerCase());
      const typed = event.key.length === 1 ? Number.parseInt(event.key, RADIX) : NaN;
      if (known) known.press?.();
      else if (typed > 0) enterNumber(typed);
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  return (
    <>
      <button class="link keys" onClick={() => dialog.current!.showModal()}>
        keys
      </button>
      <dialog ref={dialog} aria-labelledby="keys">
        <h3 id="keys">Keys</h3>
        <dl>
          {[{ key: "1 to 9", words: number }, ...all].map(({ key, words }) => (
            <div>
              <dt>
                <kbd>{key.length === 1 ? key.toUpperCase() : key}</kbd>
              </dt>
              <dd>{words}</dd>
            </div>
          ))}
        </dl>
        <form method="dialog">
          <label>
            <input type="checkbox" checked={on.value} onChange={() => (on.value = !on.value)} /> keys work
          </label>
          <button class="plain first">close</button>
        </form>
      </dialog>
    </>
  );
}
