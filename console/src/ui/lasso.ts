/** The lasso of a map by keys: a cross that the arrows move, and the outline that it draws. Pure. */
import type { Outline } from "./map-drawing.js";

export interface Lasso {
  readonly corners: Outline;
  /** Null: nobody uses the keys. */
  readonly cross: readonly [left: number, top: number] | null;
}

export const NO_LASSO: Lasso = { corners: [], cross: null };

/** What a key does: the lasso goes on, or its outline is whole. Null: nothing. */
export type LassoStep = { readonly lasso: Lasso } | { readonly outline: Outline } | null;

const FINE = 10;
const COARSE = 50;
const CORNERS_MIN = 3;

const MOVES: Readonly<Record<string, readonly [across: number, down: number]>> = {
  ...{ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] },
};

/** Of a canvas of that size. The cross begins in its middle. */
export function lassoByKey(
  { corners, cross }: Lasso,
  { key, shiftKey }: Pick<KeyboardEvent, "key" | "shiftKey">,
  { width, height }: { readonly width: number; readonly height: number },
): LassoStep {
  const [left, top] = cross ?? [width / 2, height / 2];
  const move = MOVES[key];
  if (move !== undefined) {
    const step = shiftKey ? COARSE : FINE;
    const within = (place: number, most: number): number => Math.max(0, Math.min(most, place));
    return { lasso: { corners, cross: [within(left + move[0] * step, width), within(top + move[1] * step, height)] } };
  }
  if (key === "Enter") return { lasso: { corners: [...corners, [left, top]], cross: [left, top] } };
  if (key === "Backspace") return { lasso: { corners: corners.slice(0, -1), cross: [left, top] } };
  if (key === "Escape") return { lasso: NO_LASSO };
  if (key !== " ") return null;
  return corners.length < CORNERS_MIN ? { lasso: { corners, cross: [left, top] } } : { outline: corners };
}

/** What the keys do next, for those who use them. */
export function lassoHint({ corners: { length } }: Lasso): string {
  if (length === 0) return "Arrows move the cross, with Shift further. Enter sets a corner.";
  if (length < CORNERS_MIN) return `${length} of at least 3 corners. Enter sets the next one, Escape begins anew.`;
  return `${length} corners. Space chooses what is inside. Backspace takes the last one back.`;
}
