// A short text about a game to share, with a link that asks for a better game with the same dice.

import { useSignal } from "@preact/signals";
import { link, type Words } from "../address";
import type { Game } from "../data/game";
import type { Grade } from "../exact/goals";
import { useSession } from "../session";
import { inWordsOf, type Event } from "./events";
import { dayOf, nameOf, type Played, type Setup } from "./game";

const BLOCKS: Record<Grade, string> = { best: "🟩", slight: "🟨", mistake: "🟧", blunder: "🟥" };

export function Share({ words, ...asked }: { setup: Setup; played: Played; events: Event[]; words: Words }) {
  const { game } = useSession();
  const done = useSignal<"copied" | "shown" | null>(null);
  const text = shareText(game, asked);
  const url = `${location.href.split("#")[0]}${link("play", words)}`;
  const copy = () =>
    navigator.clipboard.writeText(`${text}\n${url}`).then(
      () => (done.value = "copied"),
      () => (done.value = "shown"),
    );
  const share = async () => {
    if (navigator.share) {
      try {
        return await navigator.share({ text, url });
      } catch (error) {
        if ((error as Error).name === "AbortError") return; // the player closed the dialog
      }
    }
    if (navigator.clipboard) await copy();
    else done.value = "shown";
  };
  return (
    <>
      <button class="plain" onClick={share}>
        share
      </button>
      <span role="status">{done.value === "copied" && "copied: paste it anywhere"}</span>
      {done.value === "shown" && (
        <textarea
          class="shared"
          aria-label="text to share"
          readOnly
          rows={7}
          onFocus={(event) => event.currentTarget.select()}
        >
          {`${text}\n${url}`}
        </textarea>
      )}
    </>
  );
}

function shareText(game: Game, { setup, played, events }: { setup: Setup; played: Played; events: Event[] }): string {
  const { mine, theirs, solved } = played;
  const day = dayOf(setup.seed);
  return [
    `${game.introduction}${day && !setup.own ? `, dice of ${day}` : ""}`,
    `${game.points[game.scoreIndex[mine.end]]}${theirs ? `; ${nameOf(game, setup.against!)}: ${game.points[game.scoreIndex[theirs.end]]}` : ""}`,
    `${inWordsOf(solved.goal, events, "me", "my").join(", ")}. You?`,
    events.map(({ grade }) => (grade ? BLOCKS[grade] : "")).join(""),
  ].join("\n");
}
