/** A row of a result, one value under the other; the chosen one first and whole. */

import { copy } from "../lib/clipboard.js";
import { cellText } from "../lib/format.js";
import { Button } from "./button.js";
import { CodeBlock } from "./code-block.js";
import type { GridColumn, GridRow } from "./data-grid.js";
import { Dialog } from "./dialog.js";
import { attempt } from "./toast.js";

interface ValueDialogProps {
  readonly columns: readonly GridColumn[];
  readonly row: GridRow;
  readonly column: number;
  readonly onClose: () => void;
}

export function wholeText(value: unknown): string {
  return typeof value === "object" && value !== null ? JSON.stringify(value, null, 2) : cellText(value);
}

export function ValueDialog({ columns, row, column, onClose }: ValueDialogProps) {
  const { name, data_type: type } = columns[column]!;
  const text = wholeText(row[column]);
  return (
    <Dialog title={name} onClose={onClose} isWide>
      <div class="row">
        <span class="muted code">{type}</span>
        <span class="spacer" />
        <Button icon="document" onClick={() => void attempt(() => copy(text), "Copied.")}>
          Copy
        </Button>
      </div>
      <CodeBlock>{text}</CodeBlock>
      <h3>The whole row</h3>
      <dl class="row-values">
        {columns.map((each, index) => (
          <div key={index}>
            <dt>{each.name}</dt>
            <dd class="code">{cellText(row[index]).slice(0, 2000)}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
