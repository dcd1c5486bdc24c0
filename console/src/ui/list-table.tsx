/** A table of some rows that a page has at hand. For results of statements there is data-grid.tsx. */
import type { ComponentChildren } from "preact";
import { Busy } from "./button.js";
import { Failure } from "./notice.js";
import { Panel } from "./panel.js";

export interface ListColumn<T> {
  /** "": of buttons. */
  readonly name: string;
  readonly cell: (row: T) => ComponentChildren;
  readonly isNumber?: boolean;
  readonly isWide?: boolean;
}

const CELLS_IN_LITTLE_ROOM = 5;

interface ListTableProps<T> {
  readonly label: string;
  readonly columns: readonly ListColumn<T>[];
  /** Undefined: not loaded yet. */
  readonly rows: readonly T[] | undefined;
  /** Why they could not be had the last time. */
  readonly error?: unknown;
  readonly keyOf: (row: T, index: number) => string;
  /** Instead of rows, where there are none. */
  readonly none: string;
}

export function ListTable<T>({ label, columns, rows, error = null, keyOf, none }: ListTableProps<T>) {
  if (rows === undefined) return error === null ? <Busy /> : null;
  if (rows.length === 0) return <p class="none">{none}</p>;
  const classOf = ({ name, isNumber, isWide }: ListColumn<T>) =>
    name === "" ? "actions" : isNumber === true ? "number" : isWide === true ? "wide" : undefined;
  // In little room, rows that would reach over the side are cards: their buttons stay in sight.
  const isWide = columns.length > CELLS_IN_LITTLE_ROOM || columns.some(({ name }) => name === "");
  return (
    // A region that scrolls has to take the focus, so that arrows can scroll it.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <div role="group" class="table-scroll" tabIndex={0} aria-label={label}>
      <table class={isWide ? "list as-cards" : "list"}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" class={classOf(column)}>
                {column.name === "" ? <span class="unseen">Actions</span> : column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={keyOf(row, index)}>
              {columns.map((column) => (
                <td key={column.name} class={classOf(column)} data-name={column.name}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface ListPanelProps<T> extends Omit<ListTableProps<T>, "label"> {
  readonly title: string;
  /** Read aloud; absent: the title. */
  readonly label?: string;
  readonly actions?: ComponentChildren;
  /** Above the table. */
  readonly children?: ComponentChildren;
  /** Below it. */
  readonly foot?: ComponentChildren;
}

/** A panel that is one table. */
export function ListPanel<T>({ title, actions, children, foot, label = title, ...table }: ListPanelProps<T>) {
  return (
    <Panel title={title} isFlush actions={actions}>
      {children}
      <Failure error={table.error} />
      <ListTable label={label} {...table} />
      {foot}
    </Panel>
  );
}
