// What all views share: the game, what is asked of it by the address, and what was worked out already.

import { computed, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { address } from "./address";
import type { Game, Player, Position } from "./data/game";
import { positionFromWords } from "./data/positions";
import { goalFromWords, type Goal } from "./exact/goals";
import { judge, type Judged } from "./exact/judging";
import { solveFor, type Solved } from "./exact/solved";
import { losses, visits } from "./exact/sweep";
import { keepStatistics, type Statistics } from "./statistics";
import type { Lesson } from "./learn/lesson";

export interface Session {
  game: Game;
  goal: ReadonlySignal<Goal>;
  position: ReadonlySignal<Position>;
  solved: ReadonlySignal<Solved>;
  solve: (goal: Goal) => Solved;
  visits: (player: Player) => Float64Array;
  losses: (solved: Solved, player: Player) => Float64Array;
  judged: (solved: Solved, player: Player) => Judged;
  lessons: Signal<Lesson[]>; // those of the Learn view, the present one last
  everybody: (solved: Solved) => Player[]; // perfect play first
  statistics: Statistics;
}

export function makeSession(game: Game): Session {
  const goal = computed(() => goalFromWords(game, address.value.words));
  const solveGoal = remembered(
    (asked: Goal) => solveFor(game, asked),
    (asked) => JSON.stringify(asked),
  );
  const last = game.runs.map((run) => run.player(run.steps.length - 1));
  const lessons = signal<Lesson[]>([]);
  const learners = () => {
    const lesson = lessons.value.at(-1);
    return lesson && lesson.measured.value.steps.length > 1 ? [lesson.measured.value.player] : [];
  };
  const visitsOf = keptFor((player: Player) => visits(game, player));
  const lossesOf = keptFor((solved: Solved) => keptFor((player: Player) => losses(game, solved.values, player)));
  const judgedOf = keptFor((solved: Solved) =>
    keptFor((player: Player) => judge(game, solved, player, visitsOf(player), lossesOf(solved)(player))),
  );
  return {
    game,
    goal,
    position: computed(() => positionFromWords(game, address.value.words) ?? { afterstate: game.start, roll: null }),
    solved: computed(() => solveGoal(goal.value)),
    solve: solveGoal,
    visits: visitsOf,
    losses: (solved, player) => lossesOf(solved)(player),
    judged: (solved, player) => judgedOf(solved)(player),
    lessons,
    everybody: (solved) => [solved.perfect, ...game.players, ...last, ...learners()],
    statistics: keepStatistics(game),
  };
}

export const Shared = createContext<Session | null>(null);

export function useSession(): Session {
  return useContext(Shared)!;
}

function remembered<Q, A>(answer: (question: Q) => A, key: (question: Q) => string): (question: Q) => A {
  const known = new Map<string, A>();
  return (question) => {
    const name = key(question);
    if (!known.has(name)) known.set(name, answer(question));
    return known.get(name)!;
  };
}

// The same for things rather than questions: what is worked out for one is forgotten with it.
function keptFor<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>();
  return (key) => {
    if (!known.has(key)) known.set(key, make(key));
    return known.get(key)!;
  };
}
