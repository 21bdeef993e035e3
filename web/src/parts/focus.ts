// Keyboards and screen readers go on at a sensible place when the button that was used is gone.

import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

// Focus an element (or the first button in it) when `moment` changes and is true, if the focus was lost by that.
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
