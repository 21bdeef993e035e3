// The moves there are, as buttons, without a word of how good they are.

import { useEffect, useRef } from "preact/hooks";
import { edgesOf, moveInWords } from "../data/game";
import { useSession } from "../session";

interface Props {
  node: number;
  meant?: number[]; // the edges to choose from; by default all
  take: (edge: number) => void;
}

export function MoveButtons({ node, meant, take }: Props) {
  const { game } = useSession();
  const group = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Whoever chose by keyboard a button that is no more goes on at the next ones.
    if (document.activeElement !== document.body || !navigator.userActivation.hasBeenActive) return;
    group.current!.querySelector("button")?.focus({ preventScroll: true });
  }, [node]);
  return (
    <div class="choices" role="group" aria-label="your move" ref={group}>
      {(meant ?? edgesOf(game, node)).map((edge) => (
        <button class="plain first" onClick={() => take(edge)}>
          {moveInWords(game, edge)}
        </button>
      ))}
    </div>
  );
}
