/**
 * Reads training data: one statement, run as the user who asked, hence one snapshot and that user's rights, in the
 * tenant's turns. Its rows go straight into columns that can be moved to a training thread. Called by train-job.ts.
 */

import { createHash } from "node:crypto";
import type { Request } from "../../actor/request.js";
import {
  type ColumnBuilder,
  hashColumn,
  NumberBuilder,
  type PackedColumn,
  TextBuilder,
  textsOf,
  VectorBuilder,
} from "../../automl/packed-columns.js";
import { DocumentColumns } from "../../automl/row-columns.js";
import { DbError } from "../../protocol/errors.js";
import { AUTOML_BYTES_MAX, AUTOML_COLUMNS_MAX, AUTOML_ROWS_MAX } from "../../protocol/limits.js";
import type { Turns } from "../../protocol/turns.js";
import { Session } from "../../session/session.js";
import { sessionOptions } from "../../session/session-options.js";
import type { ResultShape, Rows } from "../../session/sql-result.js";
import { plainWriter } from "../../values/json-format.js";
import { Numeric } from "../../values/numeric.js";
import type { SqlType, Value } from "../../values/values.js";
import { embedderOf } from "../models/request-embedder.js";
import { type Columns, RowsInTurns, takeSteps } from "./rows-in-turns.js";
import type { TrainSpec } from "./train-spec.js";

export interface TrainingData {
  readonly columns: readonly PackedColumn[];
  readonly rows: number;
  /** Of all that was read: the same data have the same. */
  readonly digest: string;
  /** Columns of texts that became vectors, which predictions need to know. */
  readonly embedded: readonly string[];
  /** The time column has moments, not numbers. */
  readonly hasMoments: boolean;
}

/** Texts are looked at so far to tell prose from labels. */
const SAMPLED_ROWS = 2000;
/** Words that a text has on average to count as prose, and the share of different ones. */
const PROSE_WORDS = 3;
const PROSE_DISTINCT = 0.5;
/** Words are counted so far. */
const WORDS_MAX = 50;
/** Texts that are embedded together. */
const EMBEDDED_AT_ONCE = 64;
/** Cells between two looks at the clock. */
const CELLS_A_STEP = 64;
const MICROS_PER_MS = 1000;
const MS_PER_DAY = 86_400_000;

/**
 * `embeds` false: texts that a training would make vectors of stay texts, so no model is asked. Throws invalid_request
 * for what cannot be trained on.
 */
export async function readTrainingData(request: Request, spec: TrainSpec, embeds = true): Promise<TrainingData> {
  const { sql, params, expand = null } = spec.source;
  const session = new Session(request.tenant, { ...sessionOptions(request, "routes"), readOnly: true });
  let filling: Filling | null = null;
  const collector = (shape: ResultShape): Rows => {
    filling = new Filling(shape, expand, request);
    return filling;
  };
  await session.execute({ sql, params, maxRows: AUTOML_ROWS_MAX + 1, collector, request }, (tx) =>
    request.tenant.rollback(tx),
  );
  return finish(request, spec, filling!, embeds);
}

async function finish(request: Request, spec: TrainSpec, filling: Filling, embeds: boolean): Promise<TrainingData> {
  const { target, features, timeColumn } = spec;
  const { only } = spec.source;
  const isAsked = (name: string): boolean =>
    features === undefined || features.includes(name) || name === target || name === timeColumn;
  const isWanted = (name: string): boolean => isAsked(name) && only?.includes(name) !== false;
  const hash = createHash("sha256");
  const columns: PackedColumn[] = [];
  const embedded: string[] = [];
  for await (const column of filling.columns(isWanted)) {
    // Of texts, not of their vectors: models that embed need not give the same ones again to the last bit.
    await takeSteps(request, hashColumn(hash, column));
    const mayEmbed = column.kind === "text" && column.name !== target && column.name !== timeColumn;
    const isProse = mayEmbed && (await takeSteps(request, looksLikeProse(column)));
    const vectors = isProse && embeds ? await embed(request, column) : null;
    if (isProse && (vectors !== null || !embeds)) embedded.push(column.name);
    columns.push(vectors ?? column);
    if (request.shouldYield()) await request.yieldTurn();
  }
  checkColumns(spec, columns);
  const hasMoments = columns.some(({ name, kind }) => name === timeColumn && kind === "timestamp");
  return { columns, rows: filling.count, digest: hash.digest("hex"), embedded, hasMoments };
}

/** What is in them the training itself checks. */
function checkColumns({ target, features, timeColumn }: TrainSpec, columns: readonly PackedColumn[]): void {
  if (columns.length > AUTOML_COLUMNS_MAX) {
    throw new DbError(
      "invalid_request",
      `The data has ${columns.length} columns; at most ${AUTOML_COLUMNS_MAX} can be used.`,
    );
  }
  const names = new Set(columns.map(({ name }) => name));
  const missing = [target, timeColumn, ...(features ?? [])].find(
    (name) => typeof name === "string" && !names.has(name),
  );
  if (missing === undefined) return;
  throw new DbError("invalid_request", `There is no column "${missing}" in the data.`, { field: "target" });
}

function* looksLikeProse(column: PackedColumn): Generator<void, boolean> {
  const seen = new Set<string>();
  let rows = 0;
  let texts = 0;
  let words = 0;
  for (const text of textsOf(column)) {
    if (++rows > SAMPLED_ROWS) break;
    if (text === null) continue;
    texts++;
    seen.add(text);
    words += text.split(/\s+/, WORDS_MAX).length;
    yield;
  }
  return texts > 0 && words / texts >= PROSE_WORDS && seen.size / texts >= PROSE_DISTINCT;
}

/** Null when the vectors would be too much: then the texts stay. */
async function embed(request: Request, texts: PackedColumn): Promise<PackedColumn | null> {
  const dimensions = embeddingDimensions(request);
  if (dimensions === null || texts.rows * dimensions * 4 > AUTOML_BYTES_MAX) return null;
  const embedder = embedderOf(request);
  const vectors = new VectorBuilder(texts.name, dimensions);
  let some: (string | null)[] = [];
  const take = async (): Promise<void> => {
    const found = await embedder.embed(some.filter((text) => text !== null));
    let next = 0;
    for (const text of some) vectors.append(text === null ? null : found[next++]!);
    some = [];
  };
  for (const text of textsOf(texts)) {
    if (some.push(text) < EMBEDDED_AT_ONCE) continue;
    await take();
    if (request.shouldYield()) await request.yieldTurn();
  }
  await take();
  return vectors.finish();
}

/** Null: there is no model that embeds. */
function embeddingDimensions(request: Request): number | null {
  try {
    return request.partition.models.describe(null).dimensions;
  } catch (error) {
    if (error instanceof DbError) return null;
    throw error;
  }
}

type Add = (value: Value) => void;

class Filling extends RowsInTurns {
  private readonly builders: ColumnBuilder[] = [];
  private readonly documents = new DocumentColumns();
  private readonly adds: readonly Add[];

  /** `expand`: a column of objects whose fields are columns. */
  constructor(
    shape: ResultShape,
    expand: string | null,
    private readonly request: Turns,
  ) {
    super(request);
    this.adds = shape.outputs.map(({ name, type }) => {
      if (name !== expand) return this.builderFor(name, type);
      const write = plainWriter(type);
      return (value) => this.documents.add(value === null ? {} : (write(value) as Record<string, unknown>));
    });
  }

  /** Own columns and then fields of documents; of two of one name the first. */
  async *columns(isWanted: (name: string) => boolean): AsyncGenerator<PackedColumn> {
    const given = new Set<string>();
    for (const builder of this.builders) {
      given.add(builder.name);
      if (isWanted(builder.name)) yield builder.finish();
    }
    for (const name of this.documents.names) {
      if (!given.has(name) && isWanted(name)) yield await takeSteps(this.request, this.documents.column(name));
    }
  }

  protected *take(columns: Columns, count: number): Generator<void, void> {
    for (let c = 0; c < this.adds.length; c++) {
      const add = this.adds[c]!;
      const column = columns[c]!;
      for (let r = 0; r < count; r++) {
        add(column[r]!);
        if (r % CELLS_A_STEP === 0) yield;
      }
    }
  }

  protected check(): void {
    if (this.count <= AUTOML_ROWS_MAX && this.byteLength <= AUTOML_BYTES_MAX) return;
    const why = `The data is larger than ${AUTOML_ROWS_MAX} rows or ${AUTOML_BYTES_MAX} bytes; name a query with fewer rows or columns.`;
    throw new DbError("invalid_request", why, { field: "query" });
  }

  protected get byteLength(): number {
    return this.builders.reduce((sum, builder) => sum + builder.byteLength, this.documents.byteLength);
  }

  private builderFor(name: string, type: SqlType): Add {
    const scale = TIMES[type.name];
    if (scale !== undefined) {
      const times = new NumberBuilder(name, "timestamp");
      this.builders.push(times);
      return (value) => times.append(value === null ? Number.NaN : finite(Number(value) * scale));
    }
    if (type.name === "bool") {
      const flags = new NumberBuilder(name, "boolean");
      this.builders.push(flags);
      return (value) => flags.append(value === null ? Number.NaN : value === true ? 1 : 0);
    }
    if (NUMBERS.has(type.name)) {
      const numbers = new NumberBuilder(name, "number");
      this.builders.push(numbers);
      return (value) =>
        numbers.append(finite(value instanceof Numeric ? value.toNumber() : Number(value ?? Number.NaN)));
    }
    if (type.name === "vector" && typeof type.modifier === "number" && type.modifier > 0) {
      const vectors = new VectorBuilder(name, type.modifier);
      this.builders.push(vectors);
      return (value) => vectors.append(value as Float32Array | null);
    }
    const texts = new TextBuilder(name);
    this.builders.push(texts);
    const write = plainWriter(type);
    return (value) => texts.append(value === null ? null : textOf(write(value)));
  }
}

/** To milliseconds. */
const TIMES: Readonly<Record<string, number>> = {
  date: MS_PER_DAY,
  timestamp: 1 / MICROS_PER_MS,
  timestamptz: 1 / MICROS_PER_MS,
};
const NUMBERS: ReadonlySet<string> = new Set(["int2", "int4", "int8", "float4", "float8", "numeric", "oid"]);

/** Infinities are no numbers to learn from. */
function finite(value: number): number {
  return Number.isFinite(value) ? value : Number.NaN;
}

function textOf(plain: unknown): string {
  if (typeof plain === "string") return plain;
  return typeof plain === "object" ? JSON.stringify(plain) : String(plain);
}
