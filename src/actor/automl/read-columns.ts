/**
 * Reads training data: one statement as the user who asked, hence one snapshot and his rights, in the tenant's turns; its
 * batches go straight into columns that can be moved to a training thread. Called by train-job.ts.
 */
import type { Hash } from "node:crypto";
import {
  type ColumnBuilder,
  columnsHash,
  NumberBuilder,
  type PackedColumn,
  packColumns,
  TextBuilder,
  VectorBuilder,
} from "../../automl/packed-columns.js";
import { columnsOfRows } from "../../automl/row-columns.js";
import { DbError } from "../../protocol/errors.js";
import { plainWriter } from "../../protocol/json-format.js";
import { AUTOML_BYTES_MAX, AUTOML_COLUMNS_MAX, AUTOML_ROWS_MAX } from "../../protocol/limits.js";
import { Numeric } from "../../protocol/numeric.js";
import type { SqlType, Value } from "../../protocol/values.js";
import type { Batch } from "../../query/expr/expr.js";
import { sessionOptions } from "../handlers/query.js";
import type { Request } from "../request.js";
import { embedderOf } from "../request-embedder.js";
import { Session } from "../session.js";
import type { ResultShape, Rows } from "../sql-result.js";
import { DATASET_ROWS } from "./tables.js";
import { checkTarget, type TrainSpec } from "./train-spec.js";

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
/** Texts that are embedded between two looks at the clock. */
const EMBEDDED_AT_ONCE = 64;
const MICROS_PER_MS = 1000;
const MS_PER_DAY = 86_400_000;

/** Throws invalid_request for what cannot be trained on. */
export async function readTrainingData(request: Request, spec: TrainSpec): Promise<TrainingData> {
  const { source } = spec;
  const sql =
    source.kind === "query" ? source.sql : `SELECT rows FROM ${DATASET_ROWS} WHERE dataset_id = $1 ORDER BY seq`;
  const params = source.kind === "query" ? source.params : [source.id];
  const expand = source.kind === "query" ? (source.expand ?? null) : "rows";
  const session = new Session(request.tenant, { ...sessionOptions(request, "routes"), readOnly: true });
  let filling: Filling | null = null;
  const collector = (shape: ResultShape): Rows => {
    filling = new Filling(shape, expand, source.kind === "dataset");
    return filling;
  };
  await session.execute({ sql, params, maxRows: AUTOML_ROWS_MAX + 1, collector, request }, (tx) =>
    request.tenant.rollback(tx),
  );
  return finish(request, spec, filling!);
}

async function finish(request: Request, spec: TrainSpec, filling: Filling): Promise<TrainingData> {
  const { target, features, timeColumn } = spec;
  const isWanted = (name: string): boolean =>
    features === undefined || features.includes(name) || name === target || name === timeColumn;
  const digest = filling.digest();
  const columns: PackedColumn[] = [];
  const embedded: string[] = [];
  for (const builder of filling.builders) {
    if (!isWanted(builder.name)) continue;
    const mayEmbed = builder.name !== target && builder.name !== timeColumn && builder instanceof TextBuilder;
    const vectors = mayEmbed && isProse(builder) ? await embed(request, builder) : null;
    if (vectors !== null) embedded.push(builder.name);
    columns.push(vectors ?? builder.finish());
    if (request.shouldYield()) await request.yieldTurn();
  }
  const names = new Set(columns.map(({ name }) => name));
  for (const column of await expanded(request, filling)) {
    if (isWanted(column.name) && !names.has(column.name)) columns.push(column);
  }
  checkColumns(spec, columns, filling.rows);
  const hasMoments = columns.some(({ name, kind }) => name === timeColumn && kind === "timestamp");
  return { columns, rows: filling.rows, digest, embedded, hasMoments };
}

function checkColumns(
  { target, features, timeColumn }: TrainSpec,
  columns: readonly PackedColumn[],
  rows: number,
): void {
  if (columns.length > AUTOML_COLUMNS_MAX) {
    throw new DbError(
      "invalid_request",
      `The data have ${columns.length} columns; at most ${AUTOML_COLUMNS_MAX} are learnt from.`,
    );
  }
  const names = new Set(columns.map(({ name }) => name));
  const missing = [target, timeColumn, ...(features ?? [])].find(
    (name) => typeof name === "string" && !names.has(name),
  );
  if (missing !== undefined) {
    throw new DbError("invalid_request", `There is no column "${missing}" in the data.`, { field: "target" });
  }
  if (target === null) return;
  const column = columns.find(({ name }) => name === target)!;
  const { known, isConstant } = "bytes" in column ? textFacts(column) : numberFacts(column.values as ArrayLike<number>);
  checkTarget(target, rows, known, isConstant);
}

function numberFacts(values: ArrayLike<number>): { readonly known: number; readonly isConstant: boolean } {
  let known = 0;
  let isConstant = true;
  let first = Number.NaN;
  for (let row = 0; row < values.length; row++) {
    if (Number.isNaN(values[row]!)) continue;
    if (known++ === 0) first = values[row]!;
    else isConstant &&= values[row] === first;
  }
  return { known, isConstant };
}

function textFacts({ bytes, ends }: Extract<PackedColumn, { readonly bytes: Uint8Array }>) {
  let known = 0;
  let isConstant = true;
  let before = 0;
  let first: Uint8Array | null = null;
  for (const marked of ends) {
    const end = marked & 0x7fff_ffff;
    if (marked < 0x8000_0000) {
      const text = bytes.subarray(before, end);
      known++;
      if (first === null) first = text;
      else isConstant &&= Buffer.compare(text, first) === 0;
    }
    before = end;
  }
  return { known, isConstant };
}

function isProse(builder: TextBuilder): boolean {
  const seen = new Set<string>();
  let texts = 0;
  let words = 0;
  for (let row = 0; row < Math.min(builder.length, SAMPLED_ROWS); row++) {
    const text = builder.at(row);
    if (text === null) continue;
    texts++;
    seen.add(text);
    words += text.split(/\s+/, 50).length;
  }
  return texts > 0 && words / texts >= PROSE_WORDS && seen.size / texts >= PROSE_DISTINCT;
}

/** Null when the vectors would be too much: then the texts stay. */
async function embed(request: Request, texts: TextBuilder): Promise<PackedColumn | null> {
  const dimensions = embeddingDimensions(request);
  if (dimensions === null || texts.length * dimensions * 4 > AUTOML_BYTES_MAX) return null;
  const embedder = embedderOf(request);
  const vectors = new VectorBuilder(texts.name, dimensions);
  for (let row = 0; row < texts.length; ) {
    const some: string[] = [];
    const places: (number | null)[] = [];
    for (; row < texts.length && places.length < EMBEDDED_AT_ONCE; row++) {
      const text = texts.at(row);
      places.push(text === null ? null : some.push(text) - 1);
    }
    const found = await embedder.embed(some);
    for (const place of places) vectors.append(place === null ? null : found[place]!);
    if (request.shouldYield()) await request.yieldTurn();
  }
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

/** Fields of documents: which there are is known at the end. */
async function expanded(request: Request, filling: Filling): Promise<readonly PackedColumn[]> {
  const { documents } = filling;
  if (documents.length === 0) return [];
  const names = new Set<string>();
  for (const document of documents) for (const name in document) names.add(name);
  const columns: PackedColumn[] = [];
  for (const name of names) {
    const cells = documents.map((document) => ({ [name]: document[name] }));
    columns.push(...packColumns(columnsOfRows(cells)));
    if (request.shouldYield()) await request.yieldTurn();
  }
  return columns;
}

type Add = (value: Value) => void;

class Filling implements Rows {
  readonly plain = [];
  readonly builders: ColumnBuilder[] = [];
  /** Documents whose fields are columns; of a row each. */
  readonly documents: Readonly<Record<string, unknown>>[] = [];
  rows = 0;
  readonly #adds: readonly Add[];
  readonly #hash: Hash;

  /** `expand`: a column of objects (or of lists of rows, with `isDataset`) that become columns. */
  constructor(shape: ResultShape, expand: string | null, isDataset: boolean) {
    this.#adds = shape.outputs.map(({ name, type }) => {
      if (name !== expand) return this.#builderFor(name, type);
      const write = plainWriter(type);
      return (value) => {
        const content = write(value);
        this.#hash.update(JSON.stringify(content));
        const rows = isDataset ? (content as Readonly<Record<string, unknown>>[]) : [(content ?? {}) as never];
        for (const row of rows) this.documents.push(row);
        if (isDataset) this.rows += rows.length - 1;
      };
    });
    this.#hash = columnsHash(this.builders);
  }

  append({ columns }: Batch, count: number): number {
    const before = this.#bytes;
    for (let c = 0; c < this.#adds.length; c++) {
      const add = this.#adds[c]!;
      const column = columns[c]!;
      for (let r = 0; r < count; r++) add(column[r]!);
    }
    this.rows += count;
    for (const builder of this.builders) builder.hash(this.#hash);
    if (this.rows > AUTOML_ROWS_MAX || this.#bytes > AUTOML_BYTES_MAX) {
      const why = `The data are larger than ${AUTOML_ROWS_MAX} rows or ${AUTOML_BYTES_MAX} bytes; name a query with fewer rows or columns.`;
      throw new DbError("invalid_request", why, { field: "query" });
    }
    return this.#bytes - before;
  }

  digest(): string {
    return this.#hash.digest("hex");
  }

  get #bytes(): number {
    let bytes = this.documents.length * 64;
    for (const { byteLength } of this.builders) bytes += byteLength;
    return bytes;
  }

  #builderFor(name: string, type: SqlType): Add {
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
