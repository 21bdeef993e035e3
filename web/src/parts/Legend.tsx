// The legend of a map: a ramp of colours with numbers.

interface Props {
  hue: string;
  title: string;
  ticks: { at: number; words: string }[]; // from 0 to 1
  none?: string; // the meaning of a pale square, if there are any
}

export function Legend({ hue, title, ticks, none }: Props) {
  return (
    <div class={`legend ${hue}`} role="group" aria-label="colours">
      <span>{title}</span>
      <div class="ramp">
        <div />
        {ticks.map(({ at, words }) => (
          <span style={{ left: `${100 * at}%` }}>{words}</span>
        ))}
      </div>
      {none && <span class="none">{none}</span>}
    </div>
  );
}
