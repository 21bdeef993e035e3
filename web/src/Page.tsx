// The page: the name of the game, the tabs of the views, and the view that the address names.

import { useEffect } from "preact/hooks";
import { address, link, type Words } from "./address";
import { stateInWords, stateOf } from "./data/game";
import { positionToWords } from "./data/positions";
import { goalToWords } from "./exact/goals";
import { settingsFromWords, settingsInWords } from "./learn/settings";
import { noticeOf } from "./notice";
import { useArrival } from "./parts/arrival";
import { Die } from "./parts/Die";
import { countShown } from "./parts/scales";
import { useSession, type Session } from "./session";
import { Board } from "./views/Board";
import { Drill } from "./views/Drill";
import { Learn } from "./views/Learn";
import { Lesson } from "./views/Lesson";
import { Map } from "./views/Map";
import { Play } from "./views/Play";
import { Values } from "./views/Values";
import { Training } from "./views/Training";

interface View {
  words: string;
  reads: string[]; // the words of the address that it reads, besides those of positions and goals
  title: (session: Session, words: Words) => string;
  show: () => preact.JSX.Element;
  there: (session: Session) => boolean;
}

const VIEWS: Record<string, View> = {
  play: {
    words: "Play",
    reads: ["seed", "own", "against", "turn", "coach", "played", "challenge", "replay"],
    title: seedInWords,
    show: Play,
    there: () => true,
  },
  board: { words: "Analysis", reads: [], title: positionInWords, show: Board, there: () => true },
  values: { words: "Values", reads: ["show", "step"], title: positionInWords, show: Values, there: () => true },
  learn: {
    words: "Learn",
    reads: ["method", "explore", "rate", "seed"],
    title: (_, words) => settingsInWords(settingsFromWords(words)),
    show: Learn,
    there: () => true,
  },
  lesson: {
    words: "Lesson",
    reads: ["step"],
    title: (_, { step }) => `step ${step ?? 1}`,
    show: Lesson,
    there: () => true,
  },
  training: {
    words: "Training",
    reads: ["run", "beside", "step"],
    title: ({ game }, { run, step }) =>
      `${run ?? game.runs[0].name}${step ? ` after ${countShown(Number(step))} steps` : ""}`,
    show: Training,
    there: ({ game }) => game.runs.length > 0,
  },
  map: { words: "Map", reads: ["by", "player", "other"], title: positionInWords, show: Map, there: () => true },
  drill: {
    words: "Drill",
    reads: ["seed"],
    title: seedInWords,
    show: Drill,
    there: ({ game }) => game.players.length > 0,
  },
};

function positionInWords({ game, position }: Session): string {
  const { afterstate, roll } = position.value;
  return roll === null ? game.afterstates[afterstate] : stateInWords(game, stateOf(game, afterstate, roll));
}

function seedInWords(_: Session, words: Words): string {
  return words.seed ? `seed ${words.seed}` : "";
}

export function Page() {
  const session = useSession();
  const { game } = session;
  const views = Object.entries(VIEWS).filter(([, view]) => view.there(session));
  const tabs = views.filter(([view]) => view !== "lesson" || address.value.view === view); // the Learn view leads to it
  const name = views.some(([view]) => view === address.value.view) ? address.value.view : "play";
  const { show: Shown, words, reads, title } = VIEWS[name];
  const notice = noticeOf(session, address.value, { view: name, words, reads });
  useEffect(() => {
    const about = title(session, address.value.words);
    document.querySelector(".home")?.toggleAttribute("hidden", name !== "play");
    document.title = `${words}${about && `: ${about}`} · ${game.introduction}`;
  });
  useArrival(name);
  const shared = { ...positionToWords(game, session.position.value), ...goalToWords(game, session.goal.value) };
  return (
    <>
      <header>
        <div class="brand">
          <Die face={Math.min(5, game.faces)} />
          <h1>{game.introduction}</h1>
        </div>
        <p class="lead">
          A solved dice game: every move has an exact value. <span>How close does your agent get?</span>
        </p>
        <p class={name === "play" ? "how" : "how known"}>{game.how.join(" ")}</p>
        <nav aria-label="views">
          {tabs.map(([view, { words }]) => (
            <a href={link(view, shared)} aria-current={view === name ? "page" : undefined}>
              {words}
            </a>
          ))}
        </nav>
      </header>
      <main>
        {notice && (
          <p class="notice" role="status">
            {notice}
          </p>
        )}
        <Shown />
      </main>
    </>
  );
}
