// Choose one of the players.

import type { Look } from "../data/game";

interface Props {
  label: string;
  players: Look[];
  chosen: Look;
  choose: (name: string) => void;
}

export function PlayerPicker({ label, players, chosen, choose }: Props) {
  return (
    <label>
      {label}{" "}
      <select value={chosen.name} onChange={(event) => choose(event.currentTarget.value)}>
        {players.map(({ name }) => (
          <option value={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}
