/**
 * The rectangle around a figure, and where an index has figures: in a grid of cells as large as they are, so that those
 * near a figure are found by few looks (a hierarchical grid). Called by storage/key-figure.ts and by those who search.
 */
import { type Box, boxOf, circleOf, pointOf, polygonOf } from "./geometry.js";
import type { SqlType, TypeName } from "./values.js";

const FIGURES = ["point", "box", "polygon", "circle"] as const satisfies readonly TypeName[];
export type FigureName = (typeof FIGURES)[number];

export const isFigure = ({ name }: SqlType): boolean => (FIGURES as readonly string[]).includes(name);

export function extentOf(name: FigureName, text: string): Box {
  switch (name) {
    case "box":
      return boxOf(text);
    case "circle": {
      const { center, radius } = circleOf(text);
      return {
        low: { x: center.x - radius, y: center.y - radius },
        high: { x: center.x + radius, y: center.y + radius },
      };
    }
    default: {
      const points = name === "point" ? [pointOf(text)] : polygonOf(text);
      const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
      return {
        low: { x: Math.min(...xs), y: Math.min(...ys) },
        high: { x: Math.max(...xs), y: Math.max(...ys) },
      };
    }
  }
}

/** A cell of the grid whose cells have sides of 2 ** level. */
export interface Cell {
  readonly level: number;
  readonly x: number;
  readonly y: number;
}

/** Cells are not smaller than what comparisons of figures take for equal. */
const LEVEL_MIN = -20;
/** Of figures without an end or without a size: they may be anywhere. */
export const ANYWHERE = 1000;
/** More than figures may be apart that count as touching. */
const TOUCH = 2e-6;

/** That with the lower left corner, on the level whose cells have room for the figure. */
export function cellOf({ low, high }: Box): Cell {
  const size = Math.max(high.x - low.x, high.y - low.y);
  let level = size === 0 ? LEVEL_MIN : Math.max(LEVEL_MIN, Math.ceil(Math.log2(size)));
  if (2 ** level < size) level++;
  const side = 2 ** level;
  const [x, y] = [Math.floor(low.x / side) + 0, Math.floor(low.y / side) + 0];
  return level < ANYWHERE && Number.isFinite(x) && Number.isFinite(y)
    ? { level, x, y }
    : { level: ANYWHERE, x: 0, y: 0 };
}

/** The cells of a level with figures that may touch the rectangle: from `low` to `high`, both included. */
export function cellsNear({ low, high }: Box, level: number): Record<"low" | "high", Pick<Cell, "x" | "y">> {
  if (level >= ANYWHERE) return { low: { x: 0, y: 0 }, high: { x: 0, y: 0 } };
  const side = 2 ** level;
  const first = (at: number) => (Number.isNaN(at) ? Number.NEGATIVE_INFINITY : Math.floor((at - TOUCH) / side) - 1);
  const last = (at: number) => (Number.isNaN(at) ? Number.POSITIVE_INFINITY : Math.floor((at + TOUCH) / side));
  return { low: { x: first(low.x), y: first(low.y) }, high: { x: last(high.x), y: last(high.y) } };
}
