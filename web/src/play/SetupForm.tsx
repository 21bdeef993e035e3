// The opponent, who begins, when the coach speaks, and the seed of the dice. All but the coach restart the game.

import { useSession } from "../session";
import { COACH, type Setup } from "./game";

export function SetupForm({ setup, set }: { setup: Setup; set: (changes: Partial<Setup>) => void }) {
  const { game } = useSession();
  return (
    <div class="fields">
      <label>
        against{" "}
        <select
          value={setup.against ?? ""}
          onChange={(event) => set({ against: event.currentTarget.value || null, played: [] })}
        >
          <option value="">nobody</option>
          <option value={game.optimum.name}>perfect play</option>
          {game.players.map(({ name }) => (
            <option value={name}>{name}</option>
          ))}
        </select>
      </label>
      {setup.against !== null && (
        <label>
          you play{" "}
          <select
            value={setup.second ? "second" : "first"}
            onChange={(event) => set({ second: event.currentTarget.value === "second", played: [] })}
          >
            <option value="first">first</option>
            <option value="second">second</option>
          </select>
        </label>
      )}
      <label>
        the coach speaks{" "}
        <select value={setup.coach} onChange={(event) => set({ coach: event.currentTarget.value as Setup["coach"] })}>
          {Object.entries(COACH).map(([name, words]) => (
            <option value={name}>{words}</option>
          ))}
        </select>
      </label>
      <label>
        seed{" "}
        <input
          type="number"
          min="1"
          max="99999999"
          value={setup.seed}
          onChange={(event) =>
            set({ seed: Math.max(1, Math.round(Number(event.currentTarget.value)) || 1), played: [] })
          }
        />
      </label>
    </div>
  );
}
