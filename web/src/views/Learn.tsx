// A learner that trains on the page, with its regret against perfect play as it learns.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { address, go, link } from "../address";
import type { Player } from "../data/game";
import { goalToWords, inWords, lossShown, shown, unitOf } from "../exact/goals";
import { Episode } from "../learn/Episode";
import type { Lesson } from "../learn/lesson";
import type { Method, Settings } from "../learn/learner";
import { EXPLORE, METHODS, RATES, settingsFromWords, settingsToWords } from "../learn/settings";
import { useLesson } from "../learn/useLesson";
import { randomPlayer } from "../exact/random";
import { Badge } from "../parts/Badge";
import { GoalPicker } from "../parts/GoalPicker";
import { Head } from "../parts/Head";
import { MistakeTable } from "../parts/MistakeTable";
import { RegretChart } from "../parts/RegretChart";
import { countShown } from "../parts/scales";
import { useSession } from "../session";

const FASTEST = 1e9; // episodes a second; more than any machine can play
const SPEEDS = {
  "5 a second": 5,
  "100 a second": 100,
  "2,000 a second": 2000,
  "full speed": FASTEST,
};
const SLICE = 10; // milliseconds of learning in a frame

export function Learn() {
  const session = useSession();
  const { game } = session;
  const solved = session.solved.value;
  const settings = settingsFromWords(address.value.words);
  const { method } = settings;
  const about = METHODS[method];
  const { counted } = about;
  const samples = method !== "value-iteration";
  const running = useSignal(false);
  const speed = useSignal(FASTEST);
  const again = useSignal(0);
  const lesson = useLesson(solved, settings, again.value);
  useEffect(
    () => (running.value ? learning(lesson, speed.value, () => (running.value = false)) : undefined),
    [lesson, running.value, speed.value],
  );
  const { steps, regret, player, estimate } = lesson.measured.value;
  const { mistakes } = session.judged(solved, player);
  const others = session.lessons.value.filter((each) => each !== lesson && each.solved === solved);
  const lines = [lesson, ...others].map((each) => {
    const { steps, regret, player } = each.measured.value;
    return { ...player, name: each.name, steps, regret, counted: `${METHODS[each.settings.method].counted}s` };
  });
  const levels = useMemo(() => {
    const heuristics = game.players.filter((each) => each.how).map((each) => levelOf(each));
    heuristics.sort((one, other) => one.regret - other.regret);
    return [levelOf(randomPlayer(game)), ...heuristics.slice(0, 1)];
    function levelOf(each: Player) {
      return { words: each.name, regret: session.judged(solved, each).regret };
    }
  }, [solved]);
  const set = (changes: Partial<Settings>) =>
    go("learn", { ...settingsToWords({ ...settings, ...changes }), ...goalToWords(game, solved.goal) }, true);
  const restart = () => {
    running.value = false;
    session.lessons.value = session.lessons.value.filter((each) => each !== lesson);
    again.value += 1;
  };
  return (
    <div class="main">
      <div>
        <h2>Watch a learner</h2>
        <p>
          {samples
            ? `It plays turns for ${inWords(game, solved.goal)} and knows only which moves are legal and where they lead. It learns from the throws and the final scores of its own turns.`
            : `It plays no turns: it knows the rules and the dice, and sweeps through all positions for ${inWords(game, solved.goal)}.`}{" "}
          Perfect play is used to measure it, not to teach it. <a href={link("lesson", {})}>A lesson of six steps</a>{" "}
          begins with random play and ends where learning stops.
        </p>
      </div>
      <div class="fields settings">
        <label>
          method{" "}
          <select value={method} onChange={(event) => set({ method: event.currentTarget.value as Method })}>
            {Object.entries(METHODS).map(([name, { words }]) => (
              <option value={name}>{words}</option>
            ))}
          </select>
        </label>
        <label>
          exploration{" "}
          <select
            disabled={!samples}
            value={settings.explore}
            onChange={(event) => set({ explore: Number(event.currentTarget.value) })}
          >
            {EXPLORE.map((explore) => (
              <option value={explore}>{100 * explore}%</option>
            ))}
          </select>
        </label>
        <label>
          learning rate{" "}
          <select
            disabled={!samples}
            value={`${settings.rate}`}
            onChange={(event) => set({ rate: RATES.find((rate) => `${rate}` === event.currentTarget.value) })}
          >
            {RATES.map((rate) => (
              <option value={`${rate}`}>{rate ?? "1/n, falling"}</option>
            ))}
          </select>
        </label>
        <label>
          seed{" "}
          <input
            type="number"
            disabled={!samples}
            min="0"
            max="999999999"
            value={settings.seed}
            onChange={(event) => set({ seed: Number(event.currentTarget.value) })}
          />
        </label>
        <label>
          speed{" "}
          <select value={speed.value} onChange={(event) => (speed.value = Number(event.currentTarget.value))}>
            {Object.entries(SPEEDS).map(([words, episodes]) => (
              <option value={episodes}>{words}</option>
            ))}
          </select>
        </label>
      </div>
      <div class="choices">
        <button class="plain first" disabled={lesson.finished.value} onClick={() => (running.value = !running.value)}>
          {running.value ? "pause" : "start"}
        </button>
        <button
          class="plain"
          disabled={running.value || lesson.finished.value}
          onClick={() => lesson.learn(1, () => false)}
        >
          one {counted}
        </button>
        <button class="plain" disabled={steps.length < 2} onClick={restart}>
          start over
        </button>
      </div>
      {lesson.watched.value.length > 0 && (
        <Episode key={lesson.episodes.value} corrections={lesson.watched.value} goal={solved.goal} />
      )}
      <div class="columns wide">
        <section class="card" aria-label="the curve">
          <Count lesson={lesson} />
          {lines.map((line) => (
            <p class="summary">
              <Badge look={line} /> loses <b>{lossShown(solved.goal, line.regret.at(-1)!)}</b> after{" "}
              {countShown(line.steps.at(-1)!)} {line.counted}
            </p>
          ))}
          <RegretChart
            room={720}
            lines={lines}
            levels={levels}
            counted={[...new Set(lines.map(({ counted }) => counted))].join(" or ")}
            unit={unitOf(game, solved.goal)}
          />
          <p class="caption">
            It expects {shown(game, solved.goal, estimate)} at the start of a turn; perfect play expects{" "}
            {shown(game, solved.goal, solved.values.afterstate[game.start])}.{" "}
            {method === "q-learning" &&
              estimate > solved.values.afterstate[game.start] &&
              "It expects too much: its values began at the value of nothing lost, and the best of several estimates is more often too good than too bad (maximisation bias)."}
          </p>
          <details>
            <summary>the curve in numbers</summary>
            <table>
              <Head columns={[[`${counted}s`], ["loses", "number"]]} />
              <tbody>
                {steps.map((episodes, at) => (
                  <tr>
                    <th scope="row">{episodes.toLocaleString("en")}</th>
                    <td class="number">{regret[at]}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </details>
          <details>
            <summary>how it learns</summary>
            <p>
              The method is {about.words} of afterstate values. The learner holds a number for every position before a
              throw, at first that of nothing lost. {about.how}{" "}
              {samples &&
                "It moves to the best position, or with the probability of exploration to a random one. A learning rate of 1/n averages: n counts the corrections of the position. "}
              See Sutton and Barto, <cite>Reinforcement Learning: An Introduction</cite>, 2nd edition (2018), sections{" "}
              {about.section} and 6.8. The curve shows the exact regret of its moves without exploration. The same
              settings give the same curve.
            </p>
          </details>
        </section>
        <section class="card" aria-label="its mistakes">
          <h3>
            Its mistakes <small>{mistakes.length}</small>
          </h3>
          <MistakeTable mistakes={mistakes} solved={solved} />
        </section>
      </div>
      <GoalPicker />
    </div>
  );
}

function Count({ lesson }: { lesson: Lesson }) {
  const episodes = lesson.episodes.value;
  return (
    <p class="count">
      <b>{episodes.toLocaleString("en")}</b> {METHODS[lesson.settings.method].counted}s
      {lesson.finished.value && ", the end"}
    </p>
  );
}

// Learn for some milliseconds in every frame. Return a function that stops it.
function learning(lesson: Lesson, speed: number, ended: () => void): () => void {
  let before = performance.now();
  let owed = 0;
  let frame = requestAnimationFrame(slice);
  return () => cancelAnimationFrame(frame);
  function slice(now: number) {
    owed = Math.min(owed + (speed * Math.max(0, now - before)) / 1000, speed);
    before = now;
    const end = performance.now() + SLICE;
    owed -= lesson.learn(Math.floor(owed), () => performance.now() > end);
    if (lesson.finished.peek()) ended();
    else frame = requestAnimationFrame(slice);
  }
}
