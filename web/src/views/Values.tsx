// Dynamic programming at work: the map fills as the sweep runs, a square has its sum written out, and a learner's values
// are beside the exact ones.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { address, go, whole } from "../address";
import { rollsAt, stateOf } from "../data/game";
import { positionToWords } from "../data/positions";
import { visitsOfAfterstates } from "../exact/afterstates";
import { clamped, goalToWords, lossShown, shown, unitOf } from "../exact/goals";
import { sweepOrder, waysOf } from "../exact/order";
import { METHODS, settingsFromWords } from "../learn/settings";
import { useLesson } from "../learn/useLesson";
import { shadeOf, strengthOf, ticksOf } from "../map/shades";
import { AfterstateMap } from "../parts/AfterstateMap";
import { GoalPicker } from "../parts/GoalPicker";
import { Legend } from "../parts/Legend";
import { FEW, RollsTable } from "../parts/RollsTable";
import { useSession } from "../session";
import { SHOWN } from "./shown";

const PAUSE = 350; // milliseconds between two steps of the sweep
const EPISODES = [1, 100, 10_000];

export function Values() {
  const session = useSession();
  const { game } = session;
  const solved = session.solved.value;
  const { goal, values } = solved;
  const { words } = address.value;
  const show = Object.hasOwn(SHOWN, words.show ?? "") ? (words.show as keyof typeof SHOWN) : "exact";
  const order = useMemo(() => sweepOrder(game), [game]);
  const ways = useMemo(() => waysOf(game), [game]);
  const step = Math.min(whole(words.step, order.length), order.length);
  const stepOf = useMemo(() => {
    const steps = new Map<number, number>();
    order.forEach((afterstates, at) => afterstates.forEach((afterstate) => steps.set(afterstate, at + 1)));
    return steps;
  }, [order]);
  const { afterstate } = session.position.value;
  const selected = game.over[afterstate] ? game.start : afterstate;
  const set = (changes: Record<string, string>, to = selected) =>
    go(
      "values",
      {
        show,
        step: `${step}`,
        ...changes,
        ...positionToWords(game, { afterstate: to, roll: null }),
        ...goalToWords(game, goal),
      },
      true,
    );
  const playing = useSignal(false);
  useEffect(() => {
    if (!playing.value) return;
    if (step === order.length) return void (playing.value = false);
    const timer = setTimeout(() => set({ step: `${step + 1}` }), PAUSE);
    return () => clearTimeout(timer);
  }, [playing.value, step]);
  const play = () => {
    playing.value = !playing.value;
    if (step === order.length) set({ step: "0" });
  };
  const lesson = useLesson(solved, session.lessons.peek().at(-1)?.settings ?? settingsFromWords({}), 0);
  const { counted } = METHODS[lesson.settings.method];
  const episodes = lesson.episodes.value; // draw again while it learns
  const unfinished = [...stepOf.keys()];
  const met = useMemo(() => visitsOfAfterstates(game, session.visits(solved.perfect)), [solved]);
  const shade = useMemo(() => shadeOf(session, solved, "value", solved.perfect, solved.perfect), [solved]);
  const scale = strengthOf(shade, unfinished);
  const worth = unfinished.map((each) => values.afterstate[each]);
  const range = (Math.max(...worth) - Math.min(...worth)) / 2 || 1;
  const error = (each: number) => lesson.believed(each) - values.afterstate[each];
  const strength = useMemo(() => {
    const of = {
      exact: (each: number) => (stepOf.get(each)! <= step ? scale(values.afterstate[each]) : NaN),
      learner: (each: number) => scale(lesson.believed(each)),
      // A root makes small errors visible.
      error: (each: number) => Math.sign(error(each)) * Math.sqrt(clamped(0, Math.abs(error(each)) / range, 1)),
    }[show];
    return Float64Array.from(game.afterstates, (_, each) => (game.over[each] ? NaN : of(each)));
  }, [solved, show, show === "exact" ? step : episodes, lesson]);
  const marked = useMemo(
    () =>
      rollsAt(game, selected).words.flatMap((_, roll) => {
        const pair = solved.perfect.pairs![stateOf(game, selected, roll)];
        return pair < 0 ? [] : [game.next[pair]];
      }),
    [solved, selected],
  );
  const errorInWords = (each: number) => {
    if (Number.isNaN(error(each))) return "the learner was never here";
    const off = lossShown(goal, Math.abs(error(each)));
    return `the learner believes ${shown(game, goal, lesson.believed(each))}, ${off} too ${error(each) < 0 ? "bad" : "good"}`;
  };
  const says = (each: number) => {
    const exact = shown(game, goal, values.afterstate[each]);
    if (show !== "exact") return `${exact} ${unitOf(game, goal)}; ${errorInWords(each)}`;
    return stepOf.get(each)! <= step ? `${exact} ${unitOf(game, goal)}` : `computed in step ${stepOf.get(each)}`;
  };
  const many = rollsAt(game, selected).words.length > FEW;
  const far = lossShown(goal, range);
  const ticks = {
    exact: ticksOf(shade, unfinished),
    learner: ticksOf(shade, unfinished),
    error: [
      { at: 0, words: `${far} too bad` },
      { at: 0.5, words: "right" },
      { at: 1, words: `${far} too good` },
    ],
  }[show];
  const hue = show === "error" ? "over" : "sweep";
  const to = ways.size < 2 ? (ways.has(1) ? "to the right" : "to the left") : "back";
  return (
    <div class="main">
      <div>
        <h2>How every value is found</h2>
        <p>
          A square is a position before a throw. It is worth the sum over all rolls: the chance of the roll, times the
          worth of the best square that a move leads to. Moves lead {to}, so one sweep that begins there solves the
          game. Choose a square to see its sum.
        </p>
      </div>
      <div class="fields">
        <div class="segments" role="group" aria-label="values">
          {Object.entries(SHOWN).map(([name, text]) => (
            <button aria-pressed={name === show} onClick={() => set({ show: name })}>
              {text}
            </button>
          ))}
        </div>
      </div>
      {show === "exact" ? (
        <div class="player">
          <button class="plain first" onClick={play}>
            {playing.value ? "pause" : "play"}
          </button>
          <button class="plain" disabled={step === order.length} onClick={() => set({ step: `${step + 1}` })}>
            step
          </button>
          <label class="wide">
            <span>sweep</span>
            <input
              type="range"
              min="0"
              max={order.length}
              value={step}
              aria-valuetext={`${step} of ${order.length} steps`}
              onInput={(event) => set({ step: event.currentTarget.value })}
            />
            <b>
              {step} of {order.length}
            </b>
          </label>
        </div>
      ) : (
        <div class="player">
          {EPISODES.map((count) => (
            <button class="plain" onClick={() => lesson.learn(count, () => false)}>
              {count.toLocaleString("en")} {counted}
              {count === 1 ? "" : "s"}
            </button>
          ))}
          <span aria-live="polite">
            <b>{episodes.toLocaleString("en")}</b> {counted}s of the learner of the Learn view ({lesson.name})
          </span>
        </div>
      )}
      <section class="card" aria-label="the map">
        <Legend
          hue={hue}
          title={show === "error" ? "the learner believes" : unitOf(game, goal)}
          ticks={ticks}
          none={show === "exact" ? "not computed yet" : "never met"}
        />
        <AfterstateMap
          label="all positions; the arrows lead from one to the next"
          width={1104}
          strength={strength}
          hue={hue}
          order={met}
          selected={selected}
          marked={marked}
          select={(to) => set({}, to)}
          says={says}
          goal={goal}
        />
      </section>
      <section class="card" aria-labelledby="sum">
        <h3 id="sum">The sum of {game.afterstates[selected]}</h3>
        {show === "exact" && stepOf.get(selected)! > step ? (
          <p>The sweep computes it in step {stepOf.get(selected)}, after all squares that its moves lead to.</p>
        ) : (
          <div {...(many ? { class: "scroll", tabIndex: 0, role: "region", "aria-label": "the sum" } : {})}>
            <RollsTable
              afterstate={selected}
              solved={solved}
              sum
              take={(roll) =>
                go("board", {
                  ...positionToWords(game, { afterstate: selected, roll }),
                  ...goalToWords(game, goal),
                })
              }
            />
          </div>
        )}
      </section>
      <GoalPicker />
    </div>
  );
}
