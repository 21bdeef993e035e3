// The session that all views share: the game, the goal and the position in the address, and cached results.

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
  lessons: Signal<Lesson[]>; // of the Learn view, the current one last
  everybody: (solved: Solved) => Player[]; // perfect play first
  statistics: Statistics;
}

export function makeSession(game: Game): Session {
  const goal = computed(() => goalFromWords(game, address.value.words));
  const solveGoal = cached(
    (asked: Goal) => solveFor(game, asked),
    (asked) => JSON.stringify(asked),
  );
  const last = game.runs.map((run) => run.player(run.steps.length - 1));
  const lessons = signal<Lesson[]>([]);
  const learners = () => {
    const lesson = lessons.value.at(-1);
    return lesson && lesson.measured.value.steps.length > 1 ? [lesson.measured.value.player] : [];
  };
  const visitsOf = cachedFor((player: Player) => visits(game, player));
  const lossesOf = cachedFor((solved: Solved) => cachedFor((player: Player) => losses(game, solved.values, player)));
  const judgedOf = cachedFor((solved: Solved) =>
    cachedFor((player: Player) => judge(game, solved, player, visitsOf(player), lossesOf(solved)(player))),
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

function cached<Q, A>(answer: (question: Q) => A, key: (question: Q) => string): (question: Q) => A {
  const cache = new Map<string, A>();
  return (question) => {
    const name = key(question);
    if (!cache.has(name)) cache.set(name, answer(question));
    return cache.get(name)!;
  };
}

// Cache results by the identity of an object; they are freed together with the object.
function cachedFor<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const cache = new WeakMap<K, V>();
  return (key) => {
    if (!cache.has(key)) cache.set(key, make(key));
    return cache.get(key)!;
  };
}
