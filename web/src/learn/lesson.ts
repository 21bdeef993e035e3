// A learner with its curve of exact regret. The intervals between measurements grow geometrically.

import { signal, type ReadonlySignal } from "@preact/signals";
import type { Player } from "../data/game";
import { utilityOf } from "../exact/goals";
import type { Solved } from "../exact/solved";
import type { Session } from "../session";
import { makeLearner, type Correction, type Settings } from "./learner";

export const MOST_EPISODES = 10_000_000;
const BETWEEN = 1.1; // the ratio of the episodes of successive measurements
const AT_ONCE = 64; // episodes between two calls of `until`

export interface Measured {
  steps: number[]; // the episodes before each measurement
  regret: number[];
  player: Player; // the greedy player at the last measurement
  estimate: number; // the learner's value of the start
}

export interface Lesson {
  name: string;
  settings: Settings;
  solved: Solved;
  episodes: ReadonlySignal<number>;
  finished: ReadonlySignal<boolean>; // whether it learns no more
  measured: ReadonlySignal<Measured>;
  believed: (afterstate: number) => number; // the learner's value; NaN before it corrected it
  watched: ReadonlySignal<Correction[]>; // the last episode, if it was learnt from alone
  learn: (episodes: number, until: () => boolean) => number; // return the number of episodes played
}

export function makeLesson(session: Session, solved: Solved, settings: Settings, name: string, colour: string): Lesson {
  const { game } = session;
  const learner = makeLearner(game, utilityOf(game, solved.goal), settings);
  const measure = (after: number, { steps, regret }: Pick<Measured, "steps" | "regret">): Measured => {
    const player = { name: "your learner", how: "", colour, dashes: [], pairs: learner.moves() };
    return {
      steps: [...steps, after],
      regret: [...regret, session.judged(solved, player).regret],
      player,
      estimate: learner.values[game.start],
    };
  };
  const episodes = signal(0);
  const finished = signal(false);
  const watched = signal<Correction[]>([]);
  const measured = signal(measure(0, { steps: [], regret: [] }));
  const learn = (wanted: number, until: () => boolean) => {
    const before = episodes.value;
    const last = Math.min(before + wanted, MOST_EPISODES);
    const record: Correction[] | undefined = wanted === 1 ? [] : undefined;
    let [now, next] = [before, nextAfter(measured.value.steps.at(-1)!)];
    while (now < last && !learner.finished() && !(now % AT_ONCE === 0 && until())) {
      learner.episode(record);
      now += 1;
      if (now < next) continue;
      measured.value = measure(now, measured.value);
      next = nextAfter(now);
    }
    episodes.value = now;
    finished.value = now === MOST_EPISODES || learner.finished();
    watched.value = record ?? [];
    return now - before;
  };
  const believed = (afterstate: number) => (learner.corrections[afterstate] ? learner.values[afterstate] : NaN);
  return { name, settings, solved, episodes, finished, measured, believed, watched, learn };
}

function nextAfter(episodes: number): number {
  return Math.min(MOST_EPISODES, Math.max(episodes + 1, Math.ceil(episodes * BETWEEN)));
}
