/** Collects a statement's rows in the form in which they leave: JSON text, or plain values for MessagePack. */
import { DbError } from "../protocol/errors.js";
import { jsonWriter, plainWriter } from "../protocol/json-format.js";
import { RESULT_BYTES_MAX } from "../protocol/limits.js";
import { TEXT, type Value } from "../protocol/values.js";
import type { Batch } from "../query/expr/expr.js";
import { displayName } from "../query/expr/types.js";
import type { OutputColumn } from "../query/plan/plan.js";
import type { Answer } from "./reply.js";

/** What is known of a result before it runs; made once per plan. */
export interface ResultShape {
  readonly columns: readonly { readonly name: string; readonly data_type: string; readonly nullable: boolean }[];
  readonly columnsJson: string;
  readonly json: readonly ((value: Value) => string)[];
  readonly plain: readonly ((value: Value) => unknown)[];
}

export function shapeOf(outputs: readonly OutputColumn[]): ResultShape {
  const columns = outputs.map(({ name, type, nullable }) => ({ name, data_type: displayName(type), nullable }));
  return {
    columns,
    columnsJson: JSON.stringify(columns),
    json: outputs.map(({ type }) => jsonWriter(type)),
    plain: outputs.map(({ type }) => plainWriter(type)),
  };
}

const NO_COLUMNS = shapeOf([]);

/** Rows of one run. */
export class ResultBuilder {
  private json = "";
  private readonly plain: unknown[][] = [];
  private rows = 0;
  truncated = false;

  constructor(
    private readonly shape: ResultShape,
    private readonly maxRows: number,
    private readonly asPlain: boolean,
  ) {}

  /** False when the row cap is reached and rows were left out. */
  append(batch: Batch): boolean {
    const taken = Math.min(batch.length, this.maxRows - this.rows);
    if (this.asPlain) this.appendPlain(batch, taken);
    else this.appendJson(batch, taken);
    this.rows += taken;
    this.truncated = taken < batch.length;
    return !this.truncated;
  }

  private appendJson(batch: Batch, taken: number): void {
    const { columns } = batch;
    const writers = this.shape.json;
    let { json } = this;
    for (let r = 0; r < taken; r++) {
      json += json === "" ? "[" : ",[";
      for (let c = 0; c < writers.length; c++) {
        const value = columns[c]![r]!;
        if (c > 0) json += ",";
        json += value === null ? "null" : writers[c]!(value);
      }
      json += "]";
    }
    this.json = json;
    if (json.length > RESULT_BYTES_MAX) {
      throw new DbError("query_error", `The result is larger than ${RESULT_BYTES_MAX} bytes.`, {
        sqlstate: "54000",
        hint: "Lower max_rows, or page with LIMIT and a key.",
      });
    }
  }

  private appendPlain(batch: Batch, taken: number): void {
    const { columns } = batch;
    const writers = this.shape.plain;
    for (let r = 0; r < taken; r++) {
      const row = new Array<unknown>(writers.length);
      for (let c = 0; c < writers.length; c++) {
        const value = columns[c]![r]!;
        row[c] = value === null ? null : writers[c]!(value);
      }
      this.plain.push(row);
    }
  }

  outcome(rowsAffected: number | null): Outcome {
    return {
      shape: this.shape,
      rowsJson: this.json,
      rowsPlain: this.asPlain ? this.plain : null,
      rowsAffected,
      truncated: this.truncated,
    };
  }
}

/** A statement that ran. */
export interface Outcome {
  readonly shape: ResultShape;
  /** Rows joined by commas, without the outer brackets. */
  readonly rowsJson: string;
  /** Instead of `rowsJson` when the client reads MessagePack. */
  readonly rowsPlain: readonly (readonly unknown[])[] | null;
  /** null: not a statement that changes rows. */
  readonly rowsAffected: number | null;
  readonly truncated: boolean;
  /** What the client should know although nothing failed: "relation … already exists, skipping". */
  readonly notices?: readonly string[];
}

/** Nothing to return but a count. */
export function countOutcome(rowsAffected: number, asPlain: boolean): Outcome {
  return { shape: NO_COLUMNS, rowsJson: "", rowsPlain: asPlain ? [] : null, rowsAffected, truncated: false };
}

/** One text column; how DDL (`result`), EXPLAIN and SHOW answer. */
export function textOutcome(column: string, lines: readonly string[], asPlain: boolean): Outcome {
  const shape = shapeOf([{ id: 0, name: column, type: TEXT, nullable: false }]);
  const builder = new ResultBuilder(shape, lines.length, asPlain);
  builder.append({ columns: [lines], length: lines.length });
  return builder.outcome(null);
}

/** `data` of a statement's answer, as clients read it (docs: QueryResult). */
export function resultAnswer(outcome: Outcome, startedMs: number): Answer {
  const elapsed = Math.round((performance.now() - startedMs) * 1000) / 1000;
  const { shape, rowsAffected, truncated, notices = [] } = outcome;
  if (outcome.rowsPlain !== null) {
    return {
      plain: {
        columns: shape.columns,
        rows: outcome.rowsPlain,
        ...(rowsAffected === null ? {} : { rows_affected: rowsAffected }),
        execution_time_ms: elapsed,
        ...(truncated ? { truncated: true } : {}),
        ...(notices.length > 0 ? { notices } : {}),
      },
    };
  }
  let json = `{"columns":${shape.columnsJson},"rows":[${outcome.rowsJson}]`;
  if (rowsAffected !== null) json += `,"rows_affected":${rowsAffected}`;
  json += `,"execution_time_ms":${elapsed}`;
  if (truncated) json += ',"truncated":true';
  if (notices.length > 0) json += `,"notices":${JSON.stringify(notices)}`;
  return { json: `${json}}` };
}
