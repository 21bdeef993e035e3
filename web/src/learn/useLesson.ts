// The lesson of the Learn view and of the Values view: the current one, or a new one.

import { useEffect, useMemo } from "preact/hooks";
import type { Solved } from "../exact/solved";
import { useSession } from "../session";
import type { Settings } from "./learner";
import { makeLesson, type Lesson } from "./lesson";
import { settingsInWords } from "./settings";

const EARLIER = 2; // earlier curves that stay in the chart
const COLOURS = ["#8a63d2", "#d55e00", "#009e73", "#0072b2"]; // one more than there are curves

// Return the lesson with these settings; `again` changes to begin it once more.
export function useLesson(solved: Solved, settings: Settings, again: number): Lesson {
  const session = useSession();
  const name = settingsInWords(settings);
  const lesson = useMemo(() => {
    const lessons = session.lessons.peek();
    const colour = COLOURS.find((each) => lessons.every(({ measured }) => measured.peek().player.colour !== each))!;
    const same = lessons.find((each) => each.name === name && each.solved === solved);
    return same ?? makeLesson(session, solved, settings, name, colour);
  }, [solved, name, again]);
  useEffect(() => {
    const others = session.lessons.peek().filter((each) => each !== lesson);
    session.lessons.value = [...others.slice(-EARLIER), lesson];
  }, [lesson]);
  return lesson;
}
