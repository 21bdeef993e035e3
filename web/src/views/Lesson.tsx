// A lesson of six steps, from random play to where learning stops, with the numbers of this game.

import { useMemo } from "preact/hooks";
import { address, go, link, whole } from "../address";
import { positionToWords } from "../data/positions";
import { visitsOfAfterstates } from "../exact/afterstates";
import { clamped, goalToWords, inWords, lossShown, percent, shown, utilityOf } from "../exact/goals";
import { greedyPlayer, randomPlayer } from "../exact/random";
import { expected } from "../exact/sweep";
import { makeLesson } from "../learn/lesson";
import { shadeOf, strengthOf, ticksOf, type Shade } from "../map/shades";
import { AfterstateMap } from "../parts/AfterstateMap";
import { Legend } from "../parts/Legend";
import { MistakeTable } from "../parts/MistakeTable";
import { useSession } from "../session";

const EPISODES = 20_000;
const EXPLORE = 0.1;

export function Lesson() {
  const session = useSession();
  const { game } = session;
  const solved = session.solved.value;
  const { goal } = solved;
  const about = useMemo(() => {
    const random = randomPlayer(game);
    const values = expected(game, random, utilityOf(game, goal)).afterstate;
    return { random, values, greedy: greedyPlayer(game, "one greedy step", values) };
  }, [solved]);
  const { random, values, greedy } = about;
  const step = clamped(1, whole(address.value.words.step, 1), 6);
  const learners = useMemo(
    () => (step < 5 ? null : [0, EXPLORE].map((explore) => taught(session, explore))),
    [solved, step < 5],
  );
  const regret = (player: typeof random) => lossShown(goal, session.judged(solved, player).regret);
  const worth = (utility: number) => shown(game, goal, utility);
  const shade = (by: "visits" | "loss" | "differ", player: typeof random) =>
    shadeOf(session, solved, by, player, solved.perfect);
  const explored = learners?.map(
    ({ believed }) => game.afterstates.filter((_, at) => !Number.isNaN(believed(at))).length,
  );
  const [shy, curious] = learners ?? [];
  const steps: [title: string, text: string, map: () => Shade | null][] = [
    [
      "Random play",
      `A player that knows nothing moves at random. It loses ${regret(random)} in a turn against perfect play. The map shows how often it meets each position.`,
      () => shade("visits", random),
    ],
    [
      "Evaluate it",
      `What is a position worth to random play? One sweep from the end to the start adds up all rolls and all moves: ${worth(values[game.start])} at the start, where perfect play expects ${worth(solved.values.afterstate[game.start])}. The map shows these values. Nobody has chosen a good move yet.`,
      () => ({ ...shadeOf(session, solved, "value", random, random), numbers: values, smallest: Math.min(...values) }),
    ],
    [
      "One greedy step",
      `Now make, at every roll, the move to the position that is worth most to random play. This player loses ${regret(greedy)}. Random play lost ${regret(random)}. The map shows where the loss is.`,
      () => shade("loss", greedy),
    ],
    [
      "Why that nearly solves the game",
      `A move needs only the order of the values, not the values themselves. Random play makes every position worth less than it could be, but keeps most of them in order: with the next throw the greedy player and perfect play differ with a mean chance of ${percent(meanOf(shade("differ", greedy).numbers, game.over))} over all positions. The map shows where.`,
      () => shade("differ", greedy),
    ],
    [
      "Exploration",
      shy && curious
        ? `A learner does not know the dice: it plays ${EPISODES.toLocaleString("en")} turns and corrects the positions that it meets. Without random moves it met ${explored![0]} of ${game.afterstates.length} positions, but does not try a move again that once looked bad, and loses ${regret(shy.measured.value.player)}. With ${100 * EXPLORE}% random moves it met ${explored![1]} and loses ${regret(curious.measured.value.player)}. The map shows what the learner without random moves loses.`
        : "",
      () => shade("loss", shy!.measured.value.player),
    ],
    [
      "Where learning stops",
      `The mistakes that are left are where the learner seldom is, or where two moves are worth nearly the same: to tell them apart takes many throws, and little is lost until then. These are its costliest.`,
      () => shade("loss", curious!.measured.value.player),
    ],
  ];
  const [title, text, map] = steps[step - 1];
  const drawn = map()!;
  const unfinished = game.afterstates.map((_, at) => at).filter((at) => !game.over[at]);
  const met = useMemo(() => visitsOfAfterstates(game, session.visits(solved.perfect)), [solved]);
  const { afterstate } = session.position.value;
  const selected = game.over[afterstate] ? game.start : afterstate;
  const to = (step: number) => link("lesson", { step: `${step}`, ...goalToWords(game, goal) });
  return (
    <div class="main">
      <div aria-live="polite">
        <p>
          <small>
            Step {step} of {steps.length}; playing for {inWords(game, goal)}
          </small>
        </p>
        <h2>{title}</h2>
        <p>{text}</p>
      </div>
      <div class="choices" role="group" aria-label="steps of the lesson">
        {step > 1 && (
          <a class="plain" href={to(step - 1)}>
            back: {steps[step - 2][0]}
          </a>
        )}
        {step < steps.length && (
          <a class="plain first" href={to(step + 1)}>
            next: {steps[step][0]}
          </a>
        )}
        {step === steps.length && (
          <a class="plain first" href={link("learn", {})}>
            train a learner yourself
          </a>
        )}
      </div>
      <section class="card" aria-label="the map">
        <Legend hue={drawn.hue} title={drawn.words} ticks={ticksOf(drawn, unfinished)} none={drawn.none} />
        <AfterstateMap
          label="all positions; the arrows lead from one to the next"
          width={1104}
          strength={drawn.numbers.map(strengthOf(drawn, unfinished))}
          hue={drawn.hue}
          order={met}
          selected={selected}
          select={(at) =>
            go(
              "lesson",
              {
                step: `${step}`,
                ...positionToWords(game, { afterstate: at, roll: null }),
                ...goalToWords(game, goal),
              },
              true,
            )
          }
          says={(at) => drawn.text(drawn.numbers[at])}
          goal={goal}
        />
      </section>
      {step === steps.length && (
        <section class="card" aria-label="its mistakes">
          <MistakeTable mistakes={session.judged(solved, curious!.measured.value.player).mistakes} solved={solved} />
        </section>
      )}
    </div>
  );

  function taught(of: typeof session, explore: number) {
    const lesson = makeLesson(
      of,
      solved,
      { method: "q-learning", explore, rate: null, seed: 1 },
      `exploration ${explore}`,
      "#8a63d2",
    );
    lesson.learn(EPISODES, () => false);
    return lesson;
  }
}

function meanOf(numbers: Float64Array, over: boolean[]): number {
  const lives = numbers.filter((_, at) => !over[at]);
  return lives.reduce((sum, number) => sum + number, 0) / lives.length;
}
