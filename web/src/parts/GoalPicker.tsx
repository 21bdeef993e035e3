// Choose the goal of a turn: points, perfection, a target score, or a round.

import { address, go } from "../address";
import { GOAL_WORDS, goalToWords, perfectIndex, type Goal } from "../exact/goals";
import { useSession } from "../session";

export function GoalPicker() {
  const session = useSession();
  const { game } = session;
  const goal = session.goal.value;
  const ask = (wanted: Goal) => {
    const { view, words } = address.value;
    const rest = Object.entries(words).filter(([name]) => !GOAL_WORDS.includes(name));
    go(view, { ...Object.fromEntries(rest), ...goalToWords(game, wanted) });
  };
  const perfect = perfectIndex(game);
  const middle = Math.max(perfect + 1, Math.min(game.scores.length - 1, perfect + 5));
  const shut = goal.kind === "reach" && goal.index === perfect;
  const choices: [string, boolean, Goal][] = [
    [`${game.best} points`, goal.kind === "score", { kind: "score" }],
    [game.perfection, shut, { kind: "reach", index: perfect }],
    [game.sign < 0 ? "at most …" : "at least …", goal.kind === "reach" && !shut, { kind: "reach", index: middle }],
    [
      "a round",
      goal.kind === "round",
      { kind: "round", ties: Object.keys(game.leads.ties)[0], lead: null, holders: 0, after: 1 },
    ],
  ];
  return (
    <div class="goal">
      <span class="label" aria-hidden="true">
        playing for
      </span>
      <div class="segments" role="group" aria-label="what is played for">
        {choices.map(([words, on, wanted]) => (
          <button aria-pressed={on} onClick={() => ask(wanted)}>
            {words}
          </button>
        ))}
      </div>
      {goal.kind === "reach" && !shut && <Target index={goal.index} ask={ask} />}
      {goal.kind === "round" && <RoundChoice goal={goal} ask={ask} />}
    </div>
  );
}

function Target({ index, ask }: { index: number; ask: (goal: Goal) => void }) {
  const { game } = useSession();
  return (
    <label>
      the target{" "}
      <select value={index} onChange={(event) => ask({ kind: "reach", index: Number(event.currentTarget.value) })}>
        {game.goals.map((words, at) => (
          <option value={at}>{words}</option>
        ))}
      </select>
    </label>
  );
}

function RoundChoice({ goal, ask }: { goal: Goal & { kind: "round" }; ask: (goal: Goal) => void }) {
  const { game } = useSession();
  const others = game.leads.players - 1;
  const change = (changes: Partial<Goal & { kind: "round" }>) => {
    const wanted = { ...goal, ...changes };
    wanted.after = Math.min(wanted.after, wanted.lead === null ? others : others - 1);
    wanted.holders = wanted.lead === null ? 0 : Math.max(1, Math.min(wanted.holders, others - wanted.after));
    ask(wanted);
  };
  const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);
  return (
    <div class="fields">
      <label>
        the score to beat{" "}
        <select
          value={goal.lead ?? -1}
          onChange={(event) =>
            change({ lead: Number(event.currentTarget.value) < 0 ? null : Number(event.currentTarget.value) })
          }
        >
          <option value={-1}>none yet</option>
          {game.points.map((words, at) => (
            <option value={at}>{words}</option>
          ))}
        </select>
      </label>
      {goal.lead !== null && (
        <label>
          held by{" "}
          <select value={goal.holders} onChange={(event) => change({ holders: Number(event.currentTarget.value) })}>
            {numbers(1, others - goal.after).map((count) => (
              <option value={count}>{count}</option>
            ))}
          </select>
        </label>
      )}
      <label>
        players after you{" "}
        <select value={goal.after} onChange={(event) => change({ after: Number(event.currentTarget.value) })}>
          {numbers(0, goal.lead === null ? others : others - 1).map((count) => (
            <option value={count}>{count}</option>
          ))}
        </select>
      </label>
      <label>
        ties{" "}
        <select value={goal.ties} onChange={(event) => change({ ties: event.currentTarget.value })}>
          {Object.entries(game.leads.ties).map(([name, words]) => (
            <option value={name}>{words}</option>
          ))}
        </select>
      </label>
    </div>
  );
}
