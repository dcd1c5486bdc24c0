/**
 * Collects a statement's rows in the form in which they leave: JSON text, or plain values for MessagePack. Whoever
 * runs a statement chooses the form by giving a RowCollector.
 */

import type { ResponseOf } from "../protocol/endpoints.js";
import { RESULT_BYTES_MAX } from "../protocol/limits.js";
import { type Notice, noticeText } from "../protocol/notice.js";
import { resultTooLarge } from "../protocol/size-errors.js";
import type { GraphChanges } from "../query/exec/graph-changes.js";
import { bytesOf } from "../query/exec/value-bytes.js";
import type { Batch } from "../query/expr/expr.js";
import { displayName } from "../query/expr/types.js";
import type { OutputColumn } from "../query/plan/plan.js";
import { type JsonWriter, jsonWriter, plainWriter } from "../values/json-format.js";
import { mayBeLarge } from "../values/value-cost.js";
import { TEXT, type Value } from "../values/values.js";
import { WrittenJson } from "../values/written-json.js";
import type { Answer } from "./answer.js";

/** What is known of a result before it runs; made once per plan. */
export interface ResultShape {
  readonly outputs: readonly OutputColumn[];
  readonly columns: readonly { readonly name: string; readonly data_type: string; readonly nullable: boolean }[];
  readonly columnsJson: string;
  readonly json: readonly ((value: Value) => string)[];
  /** Columns whose values may be large. */
  readonly heavy: readonly number[];
}

/** Columns as clients read them. */
export function displayedColumns(outputs: readonly OutputColumn[]): ResultShape["columns"] {
  return outputs.map(({ name, type, nullable }) => ({ name, data_type: displayName(type), nullable }));
}

export function shapeOf(outputs: readonly OutputColumn[]): ResultShape {
  const columns = displayedColumns(outputs);
  const heavy = heavyColumns(outputs);
  const json = outputs.map(({ type }, c) => {
    const write = jsonWriter(type);
    return heavy.includes(c) ? orWritten(write) : write;
  });
  return { outputs, columns, columnsJson: JSON.stringify(columns), json, heavy };
}

/** Columns whose values may be large. */
function heavyColumns(outputs: readonly OutputColumn[]): readonly number[] {
  return outputs.flatMap(({ type }, c) => (mayBeLarge(type) ? [c] : []));
}

/** Large values may come as text that was written before. */
function orWritten(write: JsonWriter): JsonWriter {
  return (value) => ((value as unknown) instanceof WrittenJson ? (value as unknown as WrittenJson).text : write(value));
}

/** What must be known of rows to write them with turns in between. */
export interface RowsWeight {
  readonly outputs: readonly OutputColumn[];
  /** Columns whose values may be large. */
  readonly heavy: readonly number[];
  /** By the shape's writers, which take values that are written already. */
  readonly writesJson: boolean;
}

/** Rows of one run. */
export interface Rows {
  /** Takes the batch's first `count` rows. Answers their estimated bytes. Throws 54000 past RESULT_BYTES_MAX. */
  append(batch: Batch, count: number): number;
  /** Batches may be chunks (query/exec/segments/chunk.ts), whose columns are not values yet. */
  readonly takesChunks?: boolean;
  /** Absent: rows are not counted among those that may be large. */
  readonly weight?: RowsWeight;
  /** Of rows that leave as they come: a promise while the client has not taken enough of them. */
  room?(): Promise<void> | undefined;
  /** The rows as finished JSON text without the outer brackets, or as values; one of the two is there. */
  readonly json?: string;
  readonly plain?: readonly (readonly unknown[])[];
  /** Rows so far, where they are counted. */
  readonly count?: number;
}

/** `streamable`: the rows are a query's, which changes nothing, so they may leave before its end. */
export type RowCollector = (shape: ResultShape, streamable?: boolean) => Rows;

export class JsonRows implements Rows {
  json = "";
  count = 0;
  readonly weight: RowsWeight;
  protected readonly writers: ResultShape["json"];

  constructor({ json, outputs, heavy }: ResultShape) {
    this.writers = json;
    this.weight = { outputs, heavy, writesJson: true };
  }

  append({ columns }: Batch, count: number): number {
    const { writers } = this;
    let { json } = this;
    for (let r = 0; r < count; r++) {
      json += json === "" ? "[" : ",[";
      for (let c = 0; c < writers.length; c++) {
        const value = columns[c]![r]!;
        if (c > 0) json += ",";
        json += value === null ? "null" : writers[c]!(value);
      }
      json += "]";
    }
    const bytes = json.length - this.json.length;
    this.json = json;
    this.count += count;
    if (json.length > RESULT_BYTES_MAX) throw resultTooLarge();
    return bytes;
  }
}

/** A value in a list, roughly; text counts its characters beside. */
const PLAIN_VALUE_BYTES = 16;

class PlainRows implements Rows {
  readonly plain: unknown[][] = [];
  readonly weight: RowsWeight;
  private readonly writers: readonly ((value: Value) => unknown)[];
  private bytes = 0;

  constructor(shape: ResultShape) {
    this.writers = shape.outputs.map(({ type }) => plainWriter(type));
    this.weight = { outputs: shape.outputs, heavy: shape.heavy, writesJson: false };
  }

  append({ columns }: Batch, count: number): number {
    let bytes = (count + 1) * (this.writers.length + 1) * PLAIN_VALUE_BYTES;
    for (let r = 0; r < count; r++) {
      this.plain.push(
        this.writers.map((write, c) => {
          const value = columns[c]![r]!;
          if (value === null) return null;
          const plain = write(value);
          if (typeof plain === "string") bytes += plain.length;
          else if (typeof plain === "object") bytes += bytesOf(value);
          return plain;
        }),
      );
    }
    this.bytes += bytes;
    if (this.bytes > RESULT_BYTES_MAX) throw resultTooLarge();
    return bytes;
  }
}

export const jsonRows: RowCollector = (shape) => new JsonRows(shape);
export const plainRows: RowCollector = (shape) => new PlainRows(shape);

export interface GraphStats {
  readonly nodes_created: number;
  readonly nodes_deleted: number;
  readonly relationships_created: number;
  readonly relationships_deleted: number;
  readonly properties_set: number;
  readonly labels_added: number;
  readonly labels_removed: number;
}

/** Null: nothing was changed. */
export function statsOf(changes: GraphChanges): GraphStats | null {
  const stats = {
    nodes_created: changes.nodesCreated,
    nodes_deleted: changes.nodesDeleted,
    relationships_created: changes.relationshipsCreated,
    relationships_deleted: changes.relationshipsDeleted,
    properties_set: changes.propertiesSet,
    labels_added: changes.labelsAdded,
    labels_removed: changes.labelsRemoved,
  };
  return Object.values(stats).every((count) => count === 0) ? null : stats;
}

/** A statement that ran. */
export interface Outcome {
  readonly shape: ResultShape;
  readonly rows: Rows;
  /** null: not a statement that changes rows. */
  readonly rowsAffected: number | null;
  /**
   * Of CREATE TABLE AS, SELECT INTO, CREATE MATERIALIZED VIEW: rows that the new table has; absent: it was not made or
   * filled.
   */
  readonly rowsFilled?: number;
  /** The row cap cut some off. */
  readonly truncated: boolean;
  /** What a statement of Cypher changed; null: nothing. */
  readonly stats: GraphStats | null;
  /** What the client should know although nothing failed: "relation … already exists, skipping". */
  readonly notices: readonly Notice[];
  /** Of a statement without rows of its own, whose only row is this: "CREATE TABLE". */
  readonly command?: string;
  /** Of EXECUTE: what the prepared statement is. */
  readonly executed?: string;
}

/** Has the words of statements that have no rows. */
const COMMAND_COLUMN = "result";
const NO_COLUMNS = shapeOf([]);
const NO_NOTICES: readonly Notice[] = [];

export function rowsOutcome(shape: ResultShape, rows: Rows, truncated: boolean, rowsAffected: number | null): Outcome {
  return { shape, rows, rowsAffected, truncated, stats: null, notices: NO_NOTICES };
}

/** Nothing to return but a count. */
export function countOutcome(rowsAffected: number, collector: RowCollector): Outcome {
  return rowsOutcome(NO_COLUMNS, collector(NO_COLUMNS), false, rowsAffected);
}

const textColumn = (name: string): readonly OutputColumn[] => [{ id: 0, name, type: TEXT, nullable: false }];

let shapeOfCommands: ResultShape | null = null;

/** Every BEGIN and COMMIT has it. */
function commandShape(): ResultShape {
  shapeOfCommands ??= shapeOf(textColumn(COMMAND_COLUMN));
  return shapeOfCommands;
}

/** One text column; how DDL (`result`), EXPLAIN and SHOW answer. */
export function textOutcome(
  column: string,
  lines: readonly string[],
  collector: RowCollector,
  notices = NO_NOTICES,
): Outcome {
  const isCommand = column === COMMAND_COLUMN;
  const shape = isCommand ? commandShape() : shapeOf(textColumn(column));
  const rows = collector(shape);
  rows.append({ columns: [lines], length: lines.length }, lines.length);
  // No spread: every BEGIN and COMMIT has such an outcome.
  return isCommand
    ? { shape, rows, rowsAffected: null, truncated: false, stats: null, notices, command: lines[0]! }
    : { shape, rows, rowsAffected: null, truncated: false, stats: null, notices };
}

/** Milliseconds, to the microsecond. */
export function elapsedSince(startedMs: number): number {
  return Math.round((performance.now() - startedMs) * 1000) / 1000;
}

/** `data` of a statement's answer, as clients read it (docs: QueryResult). */
export function resultAnswer(outcome: Outcome, startedMs: number): Answer<ResponseOf<"query.execute">> {
  const elapsed = elapsedSince(startedMs);
  const { shape, rows, rowsAffected, truncated, stats, notices } = outcome;
  if (rows.json === undefined) {
    return {
      plain: {
        columns: shape.columns,
        rows: rows.plain!,
        ...(rowsAffected === null ? {} : { rows_affected: rowsAffected }),
        execution_time_ms: elapsed,
        ...(stats === null ? {} : { stats }),
        ...(truncated ? { truncated } : {}),
        ...(notices.length > 0 ? { notices: notices.map(noticeText) } : {}),
      },
    };
  }
  return { json: `{"columns":${shape.columnsJson},"rows":[${rows.json}]${resultTail(outcome, elapsed)}}` };
}

/** What follows the rows in a result's JSON. */
export function resultTail({ rowsAffected, truncated, stats, notices }: Outcome, elapsedMs: number): string {
  let json = rowsAffected === null ? "" : `,"rows_affected":${rowsAffected}`;
  json += `,"execution_time_ms":${elapsedMs}`;
  if (stats !== null) json += `,"stats":${JSON.stringify(stats)}`;
  if (truncated) json += ',"truncated":true';
  if (notices.length > 0) json += `,"notices":${JSON.stringify(notices.map(noticeText))}`;
  return json;
}
