// The page: what game it is, the views, and the one that the address asks for.

import { address, link } from "./address";
import { positionToWords } from "./data/positions";
import { goalToWords } from "./exact/goals";
import { Die } from "./parts/Die";
import { useSession, type Session } from "./session";
import { Board } from "./views/Board";
import { Drill } from "./views/Drill";
import { Learn } from "./views/Learn";
import { Map } from "./views/Map";
import { Play } from "./views/Play";
import { Training } from "./views/Training";

interface View {
  words: string;
  show: () => preact.JSX.Element;
  there: (session: Session) => boolean;
}

const VIEWS: Record<string, View> = {
  board: { words: "Analysis", show: Board, there: () => true },
  play: { words: "Play", show: Play, there: () => true },
  learn: { words: "Learn", show: Learn, there: () => true },
  training: { words: "Training", show: Training, there: ({ game }) => game.runs.length > 0 },
  map: { words: "Map", show: Map, there: () => true },
  drill: { words: "Drill", show: Drill, there: ({ game }) => game.players.length > 0 },
};

export function Page() {
  const session = useSession();
  const { game } = session;
  const views = Object.entries(VIEWS).filter(([, view]) => view.there(session));
  const name = views.some(([view]) => view === address.value.view) ? address.value.view : "board";
  const Shown = VIEWS[name].show;
  const kept = { ...positionToWords(game, session.position.value), ...goalToWords(game, session.goal.value) };
  return (
    <>
      <header>
        <div class="brand">
          <Die face={Math.min(5, game.faces)} />
          <h1>{game.introduction}</h1>
        </div>
        <p class="how">{game.how.join(" ")}</p>
        <nav aria-label="views">
          {views.map(([view, { words }]) => (
            <a href={link(view, kept)} aria-current={view === name ? "page" : undefined}>
              {words}
            </a>
          ))}
        </nav>
      </header>
      <main>
        <Shown />
      </main>
    </>
  );
}
