// The page of learning curves. Its address names the task and the way to draw it.

import { signal } from "@preact/signals";
import { render } from "preact";
import { address, go, link } from "../address";
import { Badge } from "../parts/Badge";
import { Head } from "../parts/Head";
import { countShown } from "../parts/scales";
import { Chart, values } from "./Chart";
import { budgets, shown, tasks, usualBudget, type Agent } from "./data";
import { Mistakes } from "./Mistakes";

const ALL = "all";
const NO_LEARNING = "no learning";
const GROUPS = ["ours", "library", NO_LEARNING];
const picked = signal<{ name?: string; at?: number }>({}); // by default the best agent and its last measurement

interface Row {
  name: string;
  value: number;
  agent?: Agent;
}

function Page() {
  const { view, words } = address.value;
  const name = Object.hasOwn(tasks, view) ? view : Object.keys(tasks)[0];
  const task = tasks[name];
  const known = budgets(task.agents);
  const budget = words.steps === ALL ? ALL : (known.find((each) => `${each}` === words.steps) ?? usualBudget(task));
  const hidden = (words.hide ?? "").split(",");
  const set = (changes: Record<string, string>) => go(name, { ...words, ...changes }, true);
  const ofBudget = task.agents
    .filter((agent) => budget === ALL || agent.budget === budget)
    .map((agent) => (budget === ALL ? { ...agent, name: `${agent.name}, ${countShown(agent.budget)}` } : agent));
  const lineCount = Object.keys(task.lines).length;
  const groups = GROUPS.filter((each) =>
    each === NO_LEARNING ? lineCount > 0 : task.agents.some(({ group }) => group === each),
  );
  const agents = ofBudget.filter(({ group }) => !hidden.includes(group));
  const lines = hidden.includes(NO_LEARNING) ? {} : task.lines;
  const rows: Row[] = [
    ...agents.map((agent) => ({ name: agent.name, value: agent.median.at(-1)!, agent })),
    ...Object.entries(lines).map(([name, value]) => ({ name, value })),
  ].sort((one, other) => one.value - other.value);
  const opened = agents.find((agent) => agent.name === words.agent);
  const agent =
    agents.find((agent) => agent.name === picked.value.name) ?? opened ?? rows.find(({ agent }) => agent)?.agent;
  const last = agent ? agent.steps.length - 1 : 0;
  const at = Math.min(picked.value.at ?? last, last);
  const open = (name: string) => {
    set({ agent: name });
    requestAnimationFrame(() => document.getElementById("mistakes")?.focus());
  };
  const says = agent && `after ${countShown(agent.steps[at])} steps, ${shown(agent.minutes[at])} min`;
  return (
    <>
      <header>
        <h1>How close do agents get to perfect play?</h1>
        <p class="how">
          Each value is a median over seeds. The interval of five seeds contains the median of all seeds with a
          probability of 94%. Time is that of one processor core, and 0 stands for less than 0.000005.
        </p>
        <nav aria-label="tasks">
          {Object.entries(tasks).map(([each, { title }]) => (
            <a href={link(each, { ...words, agent: "" })} aria-current={each === name ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
      </header>
      <main>
        <div class="fields">
          {known.length > 1 && (
            <div class="segments" role="group" aria-label="steps of training">
              {[...known, ALL].map((each) => (
                <button aria-pressed={each === budget} onClick={() => set({ steps: `${each}` })}>
                  {typeof each === "number" ? countShown(each) : each}
                </button>
              ))}
            </div>
          )}
          <div class="segments" role="group" aria-label="groups of agents">
            {groups.map((group) => (
              <button
                aria-pressed={!hidden.includes(group)}
                onClick={() =>
                  set({
                    hide: groups.filter((each) => hidden.includes(each) !== (each === group)).join(","),
                  })
                }
              >
                {group}
              </button>
            ))}
          </div>
          <Choice label="by" value={words.x} options={["steps", "minutes"]} choose={(x) => set({ x })} />
          <Choice
            label="x axis"
            value={words.across}
            options={["log", "linear"]}
            choose={(across) => set({ across })}
          />
          <Choice label="y axis" value={words.up} options={["log", "linear"]} choose={(up) => set({ up })} />
        </div>
        <div class="columns wide">
          <section class="card" aria-label="learning curves">
            <p class="summary" aria-live="polite">
              {agent && (
                <>
                  <Badge look={agent} /> <b>{values(agent, at)}</b> <small>{says}</small>
                </>
              )}
            </p>
            <Chart
              agents={agents}
              lines={lines}
              unit={task.unit}
              x={words.x === "minutes" ? "minutes" : "steps"}
              logX={words.across !== "linear"}
              logY={words.up !== "linear"}
              picked={agent}
              at={at}
              pick={({ name }, at) => (picked.value = { name, at })}
            />
            {agent && (
              <label class="wide">
                <span>measurement</span>
                <input
                  type="range"
                  min="0"
                  max={last}
                  value={at}
                  aria-valuetext={says}
                  onInput={(event) => (picked.value = { name: agent.name, at: Number(event.currentTarget.value) })}
                />
              </label>
            )}
          </section>
          <section class="card" aria-label="ranking">
            <table class="ranking">
              <caption>Best first; choose an agent to see its costliest mistakes.</caption>
              <Head columns={[["agent"], [task.unit, "number"], ["min", "number"]]} />
              <tbody>
                {rows.map(({ name, value, agent: each }) => (
                  <tr class={each && each === agent ? "best" : undefined}>
                    <th scope="row">
                      {each ? (
                        <button
                          onClick={() => open(name)}
                          onFocus={() => (picked.value = { name })}
                          onPointerEnter={() => (picked.value = { name })}
                        >
                          <Badge look={each} />
                        </button>
                      ) : (
                        <small>{name}</small>
                      )}
                    </th>
                    <td class="number">
                      {shown(value)}
                      {each && each.seeds > 1 && (
                        <small>
                          {shown(each.low.at(-1)!)} to {shown(each.high.at(-1)!)}
                        </small>
                      )}
                    </td>
                    <td class="number">{each && shown(each.minutes.at(-1)!)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        </div>
        {opened && <Mistakes agent={opened} />}
      </main>
    </>
  );
}

interface Props {
  label: string;
  value: string | undefined;
  options: string[]; // the first is the default
  choose: (value: string) => void;
}

function Choice({ label, value, options, choose }: Props) {
  return (
    <label>
      {label}{" "}
      <select value={value ?? options[0]} onChange={(event) => choose(event.currentTarget.value)}>
        {options.map((each) => (
          <option value={each}>{each}</option>
        ))}
      </select>
    </label>
  );
}

render(<Page />, document.getElementById("page")!);
