// Buttons to enter the faces of real dice, one after the other.

import { Die } from "../parts/Die";
import { useLostFocus } from "../parts/focus";
import { useSession } from "../session";

interface Props {
  dice: number; // the number of dice
  entered: number[];
  enter: (face: number) => void;
}

export function OwnDice({ dice, entered, enter }: Props) {
  const { game } = useSession();
  const group = useLostFocus<HTMLDivElement>(true);
  const faces = Array.from({ length: game.faces }, (_, at) => at + 1);
  return (
    <div class="own">
      <p aria-live="polite">
        Throw your {dice === 1 ? "die" : `${dice} dice`} and enter what {dice === 1 ? "it shows" : "they show"}:{" "}
        {entered.length} of {dice} {entered.length > 0 && `(${entered.join(", ")})`}
      </p>
      <div class="dice" role="group" aria-label="the faces" ref={group}>
        {faces.map((face) => (
          <button aria-label={`a die shows ${face}`} onClick={() => enter(face)}>
            <Die face={face} />
          </button>
        ))}
      </div>
    </div>
  );
}
