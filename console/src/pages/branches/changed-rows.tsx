/** Rows as they are on several sides, one beside the other: before and after, or base, ours and theirs. */
import { cellText } from "../../lib/format.js";
import { Badge } from "../../ui/button.js";
import type { Change, ShownRow } from "./branch-facts.js";

export interface Side {
  readonly label: string;
  readonly row: ShownRow;
}

interface RowSidesProps {
  readonly title: string;
  readonly change?: Change;
  /** The origin has it as the branch has it. */
  readonly isInOrigin?: boolean;
  readonly sides: readonly Side[];
  /** Also the columns that are the same on all sides. */
  readonly hasAll: boolean;
}

const TONES = { added: "good", removed: "bad", changed: "accent" } as const;

export function RowSides({ title, change, isInOrigin, sides, hasAll }: RowSidesProps) {
  const columns = columnsOf(sides);
  // The first column is the key most often.
  const shown = columns.filter((column, i) => hasAll || i === 0 || differs(column, sides));
  return (
    <article class="row-sides">
      <header class="row">
        {change !== undefined && <Badge tone={TONES[change]}>{change}</Badge>}
        <strong>{title}</strong>
        {isInOrigin === true && <Badge>merged already</Badge>}
      </header>
      {/* A region that scrolls has to take the focus, so that arrows can scroll it. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: see above */}
      <div role="group" class="table-scroll" tabIndex={0} aria-label={`${title}, ${columns[0] ?? ""}`}>
        <table class="sides">
          <thead>
            <tr>
              <th scope="col">Column</th>
              {sides.map(({ label }) => (
                <th key={label} scope="col">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((column, line) => (
              <tr key={column} class={differs(column, sides) ? "differs" : undefined}>
                <th scope="row">{column}</th>
                {sides.map(({ label, row }) => {
                  if (row !== null) return <SideCell key={label} row={row} column={column} />;
                  return line > 0 ? null : (
                    <td key={label} class="absent" rowSpan={shown.length}>
                      no row
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </article>
  );
}

function SideCell({ row, column }: { readonly row: NonNullable<ShownRow>; readonly column: string }) {
  if (!(column in row)) return <td class="absent">no column</td>;
  const value = row[column];
  return <td class={value === null ? "absent" : undefined}>{cellText(value)}</td>;
}

function columnsOf(sides: readonly Side[]): readonly string[] {
  return [...new Set(sides.flatMap(({ row }) => Object.keys(row ?? {})))];
}

function differs(column: string, sides: readonly Side[]): boolean {
  const [first, ...others] = sides.map(({ row }) => JSON.stringify(row?.[column]));
  return others.some((text) => text !== first);
}
