/** The rows of a grid that are in sight, and how wide its columns are. Used by data-grid.tsx. */
import { cellText, isNumeric } from "../lib/format.js";
import type { GridColumn, GridRow } from "./data-grid.js";

export interface GridPlace {
  readonly row: number;
  readonly column: number;
}

interface GridRowsProps {
  readonly columns: readonly GridColumn[];
  readonly offsets: readonly number[];
  readonly first: number;
  readonly last: number;
  /** Pixels from the upper edge to the first of them. */
  readonly shift: number;
  readonly rowAt: (place: number) => GridRow;
  readonly cell: GridPlace | null;
  readonly view: { readonly left: number; readonly width: number };
  readonly fresh?: ReadonlySet<GridRow> | undefined;
  readonly onCell: (place: GridPlace) => void;
  readonly onOpen: (place: GridPlace) => void;
}

/** Longer texts are cut: a cell shows one line. */
const CHARACTERS_MAX = 300;
const HEIGHT = 26;

export function GridRows(props: GridRowsProps) {
  const { columns, offsets, first, last, shift, view } = props;
  const from = Math.max(0, offsets.findIndex((offset) => offset > view.left) - 1);
  const past = offsets.findIndex((offset) => offset > view.left + view.width);
  const to = past < 0 ? columns.length : past;
  const drawn = [];
  for (let place = first; place < last; place++) {
    drawn.push(
      <Row key={place - first} {...props} place={place} top={shift + (place - first) * HEIGHT} {...{ from, to }} />,
    );
  }
  return <>{drawn}</>;
}

interface RowProps extends GridRowsProps {
  readonly place: number;
  readonly top: number;
  readonly from: number;
  readonly to: number;
}

function Row({ columns, offsets, rowAt, cell, fresh, place, top, from, to, onCell, onOpen }: RowProps) {
  const row = rowAt(place);
  const cells = [];
  for (let column = from; column < to; column++) {
    const value = row[column];
    const text = cellText(value);
    const isCurrent = cell?.row === place && cell.column === column;
    const at = { row: place, column };
    cells.push(
      // The keyboard's part is the grid's, which has the focus.
      // biome-ignore lint/a11y/useKeyWithClickEvents: see above
      <div
        key={column}
        id={isCurrent ? "grid-cell" : undefined}
        role="gridcell"
        tabIndex={-1}
        aria-colindex={column + 1}
        aria-selected={isCurrent}
        class={classOf(columns[column]!.data_type, value)}
        style={{ left: `${offsets[column]}px`, width: `${offsets[column + 1]! - offsets[column]!}px` }}
        onClick={() => onCell(at)}
        onDblClick={() => onOpen(at)}
      >
        {inOneLine(text)}
      </div>,
    );
  }
  return (
    <div
      role="row"
      tabIndex={-1}
      aria-rowindex={place + 2}
      class={fresh?.has(row) === true ? "grid-row fresh" : place % 2 === 0 ? "grid-row" : "grid-row odd"}
      style={{ transform: `translateY(${top}px)` }}
    >
      {cells}
    </div>
  );
}

/** Ends of lines are shown: a text of several lines would look as if it were one. */
function inOneLine(text: string): string {
  const cut = text.length > CHARACTERS_MAX ? `${text.slice(0, CHARACTERS_MAX)} …` : text;
  return cut.replace(/\r\n|\n|\r/g, " ↵ ");
}

function classOf(type: string, value: unknown): string {
  const isNothing = value === null || value === undefined;
  if (isNothing) return isNumeric(type) ? "grid-cell null number" : "grid-cell null";
  if (typeof value === "object") return "grid-cell object";
  return isNumeric(type) || typeof value === "number" ? "grid-cell number" : "grid-cell";
}

const PIXELS_PER_CHARACTER = 7.3;
const [WIDTH_MIN, WIDTH_MAX] = [64, 380];
const ROWS_READ = 60;

/** Wide enough for the first rows and the last ones that are there. */
export function widthsFor(columns: readonly GridColumn[], rows: readonly GridRow[]): readonly number[] {
  return columns.map(({ name, data_type: type }, index) => {
    let longest = name.length + Math.min(type.length, 18) * 0.85 + 2;
    for (const row of [...rows.slice(0, ROWS_READ), ...rows.slice(-ROWS_READ)])
      longest = Math.max(longest, cellText(row[index]).length);
    return Math.round(Math.max(WIDTH_MIN, Math.min(WIDTH_MAX, longest * PIXELS_PER_CHARACTER + 22)));
  });
}

/** Columns that are narrower than their texts share the room that the others leave. */
export function widened(widths: readonly number[], room: number): readonly number[] {
  const cut = widths.filter((width) => width === WIDTH_MAX).length;
  const left = room - widths.reduce((sum, width) => sum + width, 0);
  if (cut === 0 || left <= 0) return widths;
  return widths.map((width) => (width === WIDTH_MAX ? width + Math.floor(left / cut) : width));
}

/** Where each column begins, and where the last one ends. */
export function offsetsOf(widths: readonly number[]): readonly number[] {
  const offsets = [0];
  for (const width of widths) offsets.push(offsets.at(-1)! + width);
  return offsets;
}
