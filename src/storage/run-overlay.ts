/**
 * Reads writes of a sorted run one after the other, up or down, as corrections of what lies beneath. Makes no object
 * for a write but its key, and its value for who asks for it.
 */
import { keyText } from "./ordered-map.js";
import type { SortedRun } from "./sorted-run.js";
import type { Corrections, KeyRange } from "./store.js";

/** Places of a run, the first one and the one behind the last. */
export interface Places {
  readonly from: number;
  readonly to: number;
}

const NO_KEY = new Uint8Array(0);

export class RunOverlay implements Corrections {
  text: string | null = null;
  key: Uint8Array = NO_KEY;
  private place = 0;
  /** Places of the current piece that are still to come. */
  private left = 0;

  /** `pieces`: the next one first. `step`: 1 up, −1 down. */
  constructor(
    private readonly run: SortedRun,
    private readonly pieces: Places[],
    private readonly step: 1 | -1,
  ) {
    this.advance();
  }

  get value(): Uint8Array | null {
    return this.run.valueOf(this.run.numberAt(this.place));
  }

  advance(): void {
    if (this.left > 0) this.place += this.step;
    else {
      const piece = this.pieces.shift();
      if (piece === undefined) {
        this.text = null;
        return;
      }
      this.place = this.step === 1 ? piece.from : piece.to - 1;
      this.left = piece.to - piece.from;
    }
    this.left--;
    this.key = this.run.keyOf(this.run.numberAt(this.place));
    this.text = keyText(this.key);
  }
}

/** The run's writes in the range, upwards. `pieces`: the only ones that count, in order. */
export function runOverlay(run: SortedRun, { gte, lt }: KeyRange, pieces: readonly Places[]): RunOverlay {
  const inside = { from: run.lowerBound(gte), to: run.lowerBound(lt) };
  return new RunOverlay(run, piecesIn(pieces, inside), 1);
}

/** What of the pieces lies between two places. */
export function piecesIn(pieces: readonly Places[], { from, to }: Places): Places[] {
  return pieces
    .map((piece) => ({ from: Math.max(piece.from, from), to: Math.min(piece.to, to) }))
    .filter((piece) => piece.from < piece.to);
}
