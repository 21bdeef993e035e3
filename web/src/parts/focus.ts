// Move the focus when the focused button disappears, for keyboards and screen readers.

import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

// Focus an element, or the first button in it, when `moment` becomes another true value and nothing has the focus.
export function useLostFocus<E extends HTMLElement>(moment: unknown): RefObject<E | null> {
  const element = useRef<E>(null);
  useLayoutEffect(() => {
    if (!moment || document.activeElement !== document.body || !navigator.userActivation.hasBeenActive) return;
    const place = element.current?.matches("[tabindex], button")
      ? element.current
      : element.current?.querySelector("button");
    place?.focus({ preventScroll: true });
  }, [moment]);
  return element;
}
