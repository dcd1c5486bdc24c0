/**
 * Infers the columns of a table that an import creates: names and types from the first rows of the file. Every value
 * of the sample fits its column's type; a later value that does not is an error of the import. Called by
 * import-rows.ts; pure.
 */

import { sqlError } from "../../protocol/errors.js";
import { CsvReader, FIELD_PLAIN } from "../../values/csv-reader.js";
import { LineReader } from "../../values/line-reader.js";
import { jsonLine, refuseArrayOfRows } from "./json-line.js";

export interface InferredColumn {
  readonly name: string;
  readonly type: ColumnType;
}

type ColumnType =
  | "boolean"
  | "bigint"
  | "numeric"
  | "double precision"
  | "date"
  | "timestamp"
  | "timestamptz"
  | "jsonb"
  | "text";

/** Rows that are looked at. */
const SAMPLE_ROWS = 10_000;
/** Whole numbers with up to this many digits fit into bigint. */
const BIGINT_DIGITS = 18;
const BIGINT_END = 2 ** 63;

/** Types by what their values look like, tried in this order. */
const FORMS: readonly (readonly [ColumnType, RegExp])[] = [
  ["boolean", /^(true|false)$/i],
  ["bigint", new RegExp(`^-?(0|[1-9]\\d{0,${BIGINT_DIGITS - 1}})$`)],
  ["numeric", /^-?(0|[1-9]\d*)$/],
  ["double precision", /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d{1,3})?$/],
  ["date", /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/],
  ["timestamp", /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?$/],
  [
    "timestamptz",
    /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}(:?\d{2})?)$/,
  ],
];

/** Each type holds all values of the types before it. */
const WIDENING: readonly (readonly ColumnType[])[] = [
  ["bigint", "numeric", "double precision"],
  ["date", "timestamp"],
];

function typeOfText(text: string): ColumnType {
  return FORMS.find(([, form]) => form.test(text))?.[0] ?? "text";
}

function typeOfJson(value: unknown): ColumnType {
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "object") return "jsonb";
  if (typeof value === "bigint") return BigInt.asIntN(64, value) === value ? "bigint" : "numeric";
  if (typeof value === "number") {
    if (!Number.isInteger(value)) return "double precision";
    return Math.abs(value) < BIGINT_END ? "bigint" : "numeric";
  }
  const type = typeOfText(value as string);
  // Texts of digits are texts: the file could have had a number.
  return type === "date" || type === "timestamp" || type === "timestamptz" ? type : "text";
}

function common(a: ColumnType | null, b: ColumnType): ColumnType {
  if (a === null || a === b) return b;
  for (const chain of WIDENING) {
    const [i, j] = [chain.indexOf(a), chain.indexOf(b)];
    if (i !== -1 && j !== -1) return chain[Math.max(i, j)]!;
  }
  return "text";
}

class Columns {
  private readonly types: (ColumnType | null)[] = [];

  constructor(readonly names: string[]) {}

  saw(column: number, type: ColumnType): void {
    this.types[column] = common(this.types[column] ?? null, type);
  }

  /** Throws 42701, 22P04. */
  get all(): readonly InferredColumn[] {
    const { names } = this;
    if (names.length === 0) throw sqlError("22P04", "the file has no rows to take columns from", { line: 1 });
    const twice = names.find((name, i) => names.indexOf(name) !== i);
    if (twice !== undefined) throw sqlError("42701", `the column "${twice}" is named more than once`, { line: 1 });
    return names.map((name, i) => ({ name, type: this.types[i] ?? "text" }));
  }
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, i) => `column${i + 1}`);

export interface CsvForm {
  readonly delimiter: string;
  readonly quote: string;
  readonly nullText: string;
  readonly header: boolean;
}

/**
 * `isWhole`: the sample is all of the file; else its last row may be cut. `names`: of the columns, where the request
 * says them.
 */
export function columnsOfCsv(
  sample: Uint8Array,
  isWhole: boolean,
  { delimiter, quote, nullText, header }: CsvForm,
  names: readonly string[] | null,
): readonly InferredColumn[] {
  const reader = new CsvReader(delimiter, quote, sample.length);
  reader.push(sample);
  const texts = () => Array.from({ length: reader.count }, (_, i) => reader.text(i));
  let columns: Columns | null = null;
  for (let rows = 0; rows < SAMPLE_ROWS && reader.next(isWhole); rows++) {
    if (columns === null) {
      const own = header ? texts().map((text, i) => text.trim() || `column${i + 1}`) : numbered(reader.count);
      columns = new Columns([...(names ?? own)]);
      if (header) continue;
    }
    for (const [i, text] of texts().entries()) {
      if (text === nullText && reader.kinds[i] === FIELD_PLAIN) continue;
      // Programs that quote everything quote numbers, too.
      columns.saw(i, typeOfText(text));
    }
  }
  return (columns ?? new Columns([])).all;
}

/** The same of lines of JSON: the keys of all objects, or as many columns as the longest list has items. */
export function columnsOfJson(
  sample: Uint8Array,
  isWhole: boolean,
  names: readonly string[] | null,
): readonly InferredColumn[] {
  const reader = new LineReader(sample.length);
  reader.push(sample);
  const columns = new Columns([...(names ?? [])]);
  const places = new Map(columns.names.map((name, i) => [name, i]));
  for (let rows = 0; rows < SAMPLE_ROWS && reader.next(isWhole); rows++) {
    const row = jsonLine(reader.text, reader.line);
    refuseArrayOfRows(row, reader.line);
    const entries = Array.isArray(row)
      ? row.map((value, i): [string, unknown] => [names?.[i] ?? `column${i + 1}`, value])
      : Object.entries(row);
    for (const [name, value] of entries) {
      if (!places.has(name)) places.set(name, columns.names.push(name) - 1);
      if (value !== null) columns.saw(places.get(name)!, typeOfJson(value));
    }
  }
  return columns.all;
}
