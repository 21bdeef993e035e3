// Play a game, alone or against somebody, with a coach; afterwards see what luck and choices were worth.

import { useSignal } from "@preact/signals";
import { address, go } from "../address";
import { moveInWords, type Game } from "../data/game";
import { goalToWords, inWords, lossShown } from "../exact/goals";
import { Felt } from "../parts/Felt";
import { GoalPicker } from "../parts/GoalPicker";
import { MoveButtons } from "../parts/MoveButtons";
import { usePicking } from "../parts/picking";
import { Quiz } from "../parts/Quiz";
import { Account } from "../play/Account";
import { eventsOf, mistakesOf, type Event } from "../play/events";
import { play, setupFromWords, setupToWords, share, type Played, type Setup } from "../play/game";
import { SetupForm } from "../play/SetupForm";
import { useSession } from "../session";

export function Play() {
  const session = useSession();
  const { game } = session;
  const { words } = address.value;
  const setup = setupFromWords(game, words);
  const played = play(session, setup, words);
  const events = eventsOf(game, played, setup.second);
  const hinted = useSignal<string | null>(null);
  const retried = useSignal<string | null>(null);
  const here = JSON.stringify(setup);
  const set = (changes: Partial<Setup>) => {
    const goal = setup.against === null || changes.against === null ? goalToWords(game, session.goal.value) : {};
    go("play", { ...setupToWords({ ...setup, ...changes }), ...goal });
  };
  const last = played.mine.steps.at(-1)!;
  const faces = played.mine.waiting || last.edge < 0 ? last.faces : undefined;
  const position = { state: played.mine.end, roll: faces ? last.node - game.nodeStart[last.state] : null };
  const mistakes = mistakesOf(events);
  const take = (edge: number) => set({ played: [...setup.played, edge - game.edgeStart[last.node]] });
  const choice = usePicking(played.mine.waiting ? last.node : null, take);
  if (retried.value === here) {
    return (
      <section aria-label="your mistakes again">
        <p>
          <button class="link" onClick={() => (retried.value = null)}>
            back to the game
          </button>
        </p>
        <Quiz solved={played.solved} draw={(asked) => mistakes[asked]?.node ?? null} />
      </section>
    );
  }
  return (
    <div class="columns three">
      <section class="side" aria-label="the game">
        <Felt position={position} faces={faces} picking={choice}>
          {played.mine.waiting && <button onClick={() => (hinted.value = here)}>hint</button>}
          {setup.played.length > 0 && (
            <button onClick={() => set({ played: setup.played.slice(0, -1) })}>take back</button>
          )}
          {setup.played.length > 0 && <button onClick={() => set({ played: [] })}>same dice again</button>}
        </Felt>
      </section>
      <section class="main" aria-label="your move">
        <Headline setup={setup} played={played} />
        {setup.coach === "during" && <Comment events={events} played={played} />}
        {played.mine.waiting && <MoveButtons node={last.node} meant={choice?.meant} take={take} />}
        {played.mine.waiting && hinted.value === here && (
          <p aria-live="polite">
            Hint: <b>{moveInWords(game, played.solved.perfect.edges![last.node])}</b> is best.
          </p>
        )}
        {played.over && (
          <div class="choices">
            <button class="plain first" onClick={() => set({ played: [], seed: setup.seed + 1 })}>
              another game
            </button>
            {setup.coach !== "never" && mistakes.length > 0 && (
              <button class="plain" onClick={() => (retried.value = here)}>
                retry my mistakes
              </button>
            )}
          </div>
        )}
        {setup.coach !== "never" && (played.over || (setup.coach === "during" && setup.played.length > 0)) && (
          <Account events={events} goal={played.solved.goal} />
        )}
      </section>
      <section class="side" aria-label="what is played">
        <SetupForm setup={setup} set={set} />
        {setup.against === null && <GoalPicker />}
      </section>
    </div>
  );
}

function Headline({ setup, played }: { setup: Setup; played: Played }) {
  const { game } = useSession();
  const { mine, theirs, over, solved } = played;
  return (
    <div class="verdict" aria-live="polite">
      <h2>{over ? outcome(game, played) : "Your move"}</h2>
      <p>
        <small>
          {over && theirs && `${game.ended[game.score[mine.end]]} `}
          {theirs && `${setup.against} ended with ${game.points[game.score[theirs.end]]}. `}
          {!over && `You play for ${inWords(game, solved.goal)}.`}
          {over && !game.over[mine.end] && game.end(mine.steps.at(-1)!.node)}
        </small>
      </p>
    </div>
  );
}

function outcome(game: Game, { mine, theirs }: Played): string {
  if (!theirs) return game.ended[game.score[mine.end]];
  return { 1: "You win", 0.5: "A tie", 0: "You lose" }[share(game, mine, theirs)]!;
}

// What the coach says of the last choice.
function Comment({ events, played: { solved } }: { events: Event[]; played: Played }) {
  const { game } = useSession();
  const choice = events.filter(({ kind }) => kind === "choice").at(-1);
  if (!choice) return null;
  const lost = choice.before - choice.after;
  return (
    <p class={`comment ${choice.grade}`} aria-live="polite">
      {choice.words}:{" "}
      {lost === 0
        ? "best"
        : `loses ${lossShown(solved.goal, lost)}; best was ${moveInWords(game, solved.perfect.edges![choice.node!])}`}
    </p>
  );
}
