// The moves there are, as buttons, without a word of how good they are.

import { useEffect, useRef } from "preact/hooks";
import { edgesOf, moveInWords } from "../data/game";
import { useSession } from "../session";

export function MoveButtons({ node, take }: { node: number; take: (edge: number, place: number) => void }) {
  const { game } = useSession();
  const group = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Whoever chose by keyboard a button that is no more goes on at the next ones.
    if (document.activeElement === document.body)
      group.current!.querySelector("button")!.focus({ preventScroll: true });
  }, [node]);
  return (
    <div class="choices" role="group" aria-label="your move" ref={group}>
      {edgesOf(game, node).map((edge, place) => (
        <button class="plain first" onClick={() => take(edge, place)}>
          {moveInWords(game, edge)}
        </button>
      ))}
    </div>
  );
}
