/** Reads the rows of a source as objects by column, for comparisons with predictions. Called by the handlers. */

import type { Request } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";
import { AUTOML_BYTES_MAX, AUTOML_EVALUATE_ROWS_MAX } from "../../protocol/limits.js";
import type { Turns } from "../../protocol/turns.js";
import { Session } from "../../session/session.js";
import { sessionOptions } from "../../session/session-options.js";
import type { ResultShape, Rows } from "../../session/sql-result.js";
import { plainWriter } from "../../values/json-format.js";
import type { Value } from "../../values/values.js";
import type { PredictedRow } from "./predict.js";
import { type Columns, RowsInTurns } from "./rows-in-turns.js";
import type { Source } from "./train-spec.js";

/** In turns, with the caller's rights. Throws invalid_request if there are too many. */
export async function readRows(request: Request, { sql, params, expand, only }: Source): Promise<PredictedRow[]> {
  const session = new Session(request.tenant, { ...sessionOptions(request, "routes"), readOnly: true });
  let objects: RowObjects | null = null;
  const collector = (shape: ResultShape): Rows => {
    objects = new RowObjects(shape, expand ?? null, only ?? null, request);
    return objects;
  };
  const run = { sql, params, maxRows: AUTOML_EVALUATE_ROWS_MAX + 1, collector, request };
  await session.execute(run, (tx) => request.tenant.rollback(tx));
  return (objects as RowObjects | null)!.objects;
}

/** A number, roughly. */
const CELL_BYTES = 24;

class RowObjects extends RowsInTurns {
  readonly objects: PredictedRow[] = [];
  private readonly cells: readonly { readonly name: string; readonly plain: (value: Value) => unknown }[];
  private readonly names: ReadonlySet<string>;
  private bytes = 0;

  /** `expand`: a column of objects whose fields are columns, too; where both have a name, the column is meant. */
  constructor(
    { outputs }: ResultShape,
    private readonly expand: string | null,
    private readonly only: readonly string[] | null,
    turns: Turns,
  ) {
    super(turns);
    this.cells = outputs.map(({ name, type }) => ({ name, plain: plainWriter(type) }));
    this.names = new Set(outputs.map(({ name }) => name));
  }

  protected *take(columns: Columns, count: number): Generator<void, void> {
    for (let r = 0; r < count; r++) {
      const row: Record<string, unknown> = {};
      for (let c = 0; c < this.cells.length; c++) {
        const { name, plain } = this.cells[c]!;
        const value = columns[c]![r]!;
        const cell = value === null ? null : plain(value);
        if (name !== this.expand) this.put(row, name, cell);
        else
          for (const field in cell as object) if (!this.names.has(field)) this.put(row, field, (cell as never)[field]);
      }
      this.objects.push(row);
      yield;
    }
  }

  private put(row: Record<string, unknown>, name: string, cell: unknown): void {
    if (this.only?.includes(name) === false) return;
    row[name] = cell;
    this.bytes += CELL_BYTES + (typeof cell === "string" ? cell.length : 0);
  }

  protected check(): void {
    if (this.count <= AUTOML_EVALUATE_ROWS_MAX && this.bytes <= AUTOML_BYTES_MAX) return;
    const why = `The data is larger than ${AUTOML_EVALUATE_ROWS_MAX} rows or ${AUTOML_BYTES_MAX} bytes; name a query with fewer rows (LIMIT, a sample).`;
    throw new DbError("invalid_request", why, { field: "query" });
  }

  protected get byteLength(): number {
    return this.bytes;
  }
}
