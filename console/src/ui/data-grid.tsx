/**
 * A table of a result's rows, up to millions: only the rows and columns in sight are drawn. Browsers limit how high an
 * element can be, so beyond some 600,000 rows a step of the scroll bar is more than a pixel of the table.
 *
 * The keyboard moves a cell, as in a spreadsheet; the row and column in sight follow it.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { copy } from "../lib/clipboard.js";
import { cellText, isNumeric } from "../lib/format.js";
import { hasMod } from "../lib/keys.js";
import { type GridPlace, GridRows, offsetsOf, widened, widthsFor } from "./grid-rows.js";
import { attempt } from "./toast.js";

export interface GridColumn {
  readonly name: string;
  readonly data_type: string;
}

export type GridRow = readonly unknown[];

interface DataGridProps {
  readonly label: string;
  readonly columns: readonly GridColumn[];
  readonly rows: readonly GridRow[];
  /** Places in `rows` in the order in which they are shown; absent: as they are. */
  readonly order?: Uint32Array | null;
  readonly sorted?: { readonly column: number; readonly isDown: boolean } | null;
  readonly onSort?: (column: number) => void;
  /** Enter or a double click on a cell. */
  readonly onOpen?: (row: GridRow, column: number) => void;
  /** Rows that have just changed. */
  readonly fresh?: ReadonlySet<GridRow>;
  /** In place of rows, where there are none; absent: more may come. */
  readonly none?: string | undefined;
}

export const ROW_HEIGHT = 26;
const HEAD_HEIGHT = 30;
/** The highest that all browsers draw right. */
const HEIGHT_MAX = 16_000_000;

export function DataGrid(props: DataGridProps) {
  const { label, columns, rows, order } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, left: 0, width: 800, height: 400 });
  const [cell, setCell] = useState<GridPlace | null>(null);
  const [widths, setWidths] = useState<readonly number[]>([]);
  const guessed = useMemo(() => widthsFor(columns, rows), [columns, rows.length > 50, rows.length > 0]);
  const fitting = useMemo(() => widened(guessed, view.width), [guessed, view.width]);
  const wide = widths.length === columns.length ? widths : fitting;
  const offsets = useMemo(() => offsetsOf(wide), [wide]);
  useEffect(() => {
    setWidths([]);
    setCell(null);
    scroller.current!.scrollTop = 0;
  }, [columns]);

  useLayoutEffect(() => {
    const element = scroller.current!;
    const read = (): void =>
      setView({
        ...{ top: element.scrollTop, left: element.scrollLeft },
        ...{ width: element.clientWidth, height: element.clientHeight - HEAD_HEIGHT },
      });
    const sizes = new ResizeObserver(read);
    sizes.observe(element);
    element.addEventListener("scroll", read, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener("scroll", read);
    };
  }, []);

  const count = order?.length ?? rows.length;
  const wanted = count * ROW_HEIGHT;
  const height = Math.min(wanted, HEIGHT_MAX);
  const scale = height <= view.height ? 1 : (wanted - view.height) / (height - view.height);
  const from = view.top * scale;
  const first = Math.max(0, Math.floor(from / ROW_HEIGHT));
  const last = Math.min(count, Math.ceil((from + view.height) / ROW_HEIGHT) + 1);

  const show = ({ row, column }: GridPlace): void => {
    const element = scroller.current!;
    const top = row * ROW_HEIGHT;
    if (top < from) element.scrollTop = top / scale;
    else if (top + ROW_HEIGHT > from + view.height) element.scrollTop = (top + ROW_HEIGHT - view.height) / scale;
    const [left, right] = [offsets[column]!, offsets[column + 1]!];
    if (left < view.left) element.scrollLeft = left;
    else if (right > view.left + view.width) element.scrollLeft = right - view.width;
  };
  const rowAt = (place: number): GridRow => rows[order?.[place] ?? place]!;
  const handle = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && cell !== null) props.onOpen?.(rowAt(cell.row), cell.column);
    else if (event.key === "s" && !hasMod(event) && cell !== null && props.onSort !== undefined)
      props.onSort(cell.column);
    else if (hasMod(event) && event.key === "c" && cell !== null) {
      void attempt(() => copy(cellText(rowAt(cell.row)[cell.column])));
    } else {
      const next = moved(cell ?? { row: first, column: 0 }, event, {
        count,
        columns: columns.length,
        page: Math.max(1, Math.floor(view.height / ROW_HEIGHT) - 1),
      });
      if (next === null) return;
      setCell(next);
      show(next);
    }
    event.preventDefault();
  };
  return (
    <div
      ref={scroller}
      class="grid"
      role="grid"
      aria-label={label}
      aria-rowcount={count + 1}
      aria-colcount={columns.length}
      aria-activedescendant={cell === null ? undefined : "grid-cell"}
      tabIndex={0}
      onKeyDown={handle}
    >
      <div class="grid-content" style={{ width: `${offsets.at(-1)}px`, height: `${height + HEAD_HEIGHT}px` }}>
        <Head {...props} widths={wide} offsets={offsets} view={view} onResize={setWidths} />
        <div class="grid-rows" role="rowgroup" style={{ height: `${Math.min(view.height, height)}px` }}>
          <GridRows
            {...{ columns, offsets, first, last, rowAt, cell, view }}
            shift={first * ROW_HEIGHT - from}
            fresh={props.fresh}
            onCell={setCell}
            onOpen={(place) => props.onOpen?.(rowAt(place.row), place.column)}
          />
        </div>
      </div>
      {count === 0 && props.none !== undefined && <p class="grid-none">{props.none}</p>}
    </div>
  );
}

interface Bounds {
  readonly count: number;
  readonly columns: number;
  readonly page: number;
}

/** Null: the key moves nothing. */
function moved({ row, column }: GridPlace, event: KeyboardEvent, { count, columns, page }: Bounds): GridPlace | null {
  const steps: Readonly<Record<string, readonly [number, number]>> = {
    ...{ ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] },
    ...{ PageDown: [page, 0], PageUp: [-page, 0], Home: [0, -columns], End: [0, columns] },
  };
  const step = steps[event.key];
  if (step === undefined || count === 0) return null;
  const isFar = hasMod(event) && (event.key === "Home" || event.key === "End");
  const down = isFar ? Math.sign(step[1]) * count : step[0];
  return { row: clamped(row + down, count), column: clamped(column + step[1], columns) };
}

function clamped(value: number, count: number): number {
  return Math.max(0, Math.min(count - 1, value));
}

interface HeadProps extends DataGridProps {
  readonly widths: readonly number[];
  readonly offsets: readonly number[];
  readonly view: { readonly left: number; readonly width: number };
  readonly onResize: (widths: readonly number[]) => void;
}

function Head({ columns, widths, offsets, sorted, onSort, onResize }: HeadProps) {
  return (
    <div class="grid-head" role="rowgroup">
      <div role="row" tabIndex={-1} aria-rowindex={1}>
        {columns.map(({ name, data_type: type }, index) => {
          const isSorted = sorted?.column === index;
          const order = isSorted ? (sorted!.isDown ? "descending" : "ascending") : undefined;
          const inner: ComponentChildren = (
            <>
              <span class="grid-name">{name}</span>
              {isSorted && <span aria-hidden="true">{sorted!.isDown ? "↓" : "↑"}</span>}
              <span class="grid-type">{type}</span>
            </>
          );
          return (
            <div
              key={index}
              role="columnheader"
              tabIndex={-1}
              aria-colindex={index + 1}
              aria-sort={order}
              class={isNumeric(type) ? "grid-column number" : "grid-column"}
              style={{ left: `${offsets[index]}px`, width: `${widths[index]}px` }}
              title={`${name} · ${type}`}
            >
              {onSort === undefined ? (
                <span class="grid-title">{inner}</span>
              ) : (
                <button type="button" class="grid-title" tabIndex={-1} onClick={() => onSort(index)}>
                  {inner}
                </button>
              )}
              <Grip
                onDrag={(by) => onResize(widths.map((width, i) => (i === index ? Math.max(40, width + by) : width)))}
              />
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** The edge of a column, which can be drawn. */
function Grip({ onDrag }: { readonly onDrag: (by: number) => void }) {
  const start = useRef(0);
  return (
    <span
      class="grid-grip"
      aria-hidden="true"
      onPointerDown={(event) => {
        start.current = event.clientX;
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerUp={(event) => {
        if (start.current !== 0) onDrag(event.clientX - start.current);
        start.current = 0;
      }}
    />
  );
}
