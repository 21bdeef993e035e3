// The costliest mistakes of an agent, and the command that trains it.

import { Head } from "../parts/Head";
import { countShown } from "../parts/scales";
import { shown, type Agent } from "./data";

export function Mistakes({ agent }: { agent: Agent }) {
  const { mistakes } = agent;
  return (
    <section class="card" id="mistakes" tabIndex={-1} aria-label={`mistakes of ${agent.name}`}>
      <h2>
        Costliest mistakes of {agent.name} after {countShown(agent.steps.at(-1)!)} steps
      </h2>
      {mistakes === null && <p>None are stored for this agent.</p>}
      {mistakes?.length === 0 && <p>It makes none.</p>}
      {mistakes !== null && mistakes.length > 0 && (
        <table class="stacked words">
          <caption>
            Of one training. A mistake costs its loss times the chance that a turn meets the position; all costs sum to
            the regret.
          </caption>
          <Head columns={[["position"], ["loss", "number"], ["chance", "number"], ["move"]]} />
          <tbody>
            {mistakes.map(({ afterstate, roll, plays, best, loss, visits, link }) => (
              <tr>
                <th scope="row">
                  {link ? <a href={link}>{`${afterstate}, roll ${roll}`}</a> : `${afterstate}, roll ${roll}`}
                </th>
                <td class="number">{shown(loss)}</td>
                <td class="number">{shown(100 * visits)}%</td>
                <td class="below">
                  {plays}, not {best}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {agent.command && (
        <p>
          <small>{agent.seeds === 1 ? "Train it again" : `Train its ${agent.seeds} seeds again`}:</small>{" "}
          <code>{agent.command}</code>
        </p>
      )}
    </section>
  );
}
