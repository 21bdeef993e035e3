// Confetti that falls once on the board of a perfect score. It does not move if the visitor asks for reduced motion.

const PIECES = 24;
const COLOURS = ["#f2c95e", "#e14b0f", "#8787ff", "#7fd1b0"];

export function Confetti() {
  return (
    <div class="confetti" aria-hidden="true">
      {Array.from({ length: PIECES }, (_, piece) => (
        <i
          style={{
            left: `${(100 * (piece + 0.5)) / PIECES}%`,
            background: COLOURS[piece % COLOURS.length],
            animationDelay: `${(piece * 7) % 10}00ms`,
          }}
        />
      ))}
    </div>
  );
}
