/** The rows as JSON: the first of them, since a browser cannot lay out a text of any length. */
import { useMemo } from "preact/hooks";
import type { Column } from "../../../../clients/typescript/src/index.js";
import { plural } from "../../lib/format.js";
import { objectsOf } from "./export.js";
import type { List } from "./run.js";

const ROWS_MAX = 500;

interface JsonViewProps {
  readonly columns: readonly Column[];
  readonly rows: readonly List[];
  readonly count: number;
}

export function JsonView({ columns, rows, count }: JsonViewProps) {
  const shown = Math.min(count, ROWS_MAX);
  const text = useMemo(() => JSON.stringify(objectsOf(columns, rows.slice(0, shown)), null, 2), [columns, rows, shown]);
  return (
    // A region that scrolls has to take the focus, so that arrows can scroll it.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section class="json-view" tabIndex={0} aria-label="Rows as JSON">
      {count > shown && <p class="muted">The first {plural(shown, "row")}. The export has all of them.</p>}
      <pre>{text}</pre>
    </section>
  );
}
