// Focus the heading after a link leads to another view, for keyboards and screen readers.

import { useEffect, useRef } from "preact/hooks";
import { address } from "../address";

export function useArrival(view: string): void {
  const followed = useRef(false);
  useEffect(() => {
    const follow = (event: MouseEvent) => {
      const link = (event.target as Element).closest("a");
      followed.current = link !== null && link.hash !== location.hash;
    };
    document.addEventListener("click", follow);
    return () => document.removeEventListener("click", follow);
  }, []);
  useEffect(() => {
    if (!followed.current) return;
    followed.current = false;
    const heading = document.querySelector<HTMLElement>("main h2");
    heading?.setAttribute("tabindex", "-1");
    heading?.focus();
  }, [view, address.value]);
}
