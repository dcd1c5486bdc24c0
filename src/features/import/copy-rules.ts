/** What COPY says of rows, beyond the style of the file: which are stored, which fields are NULL, the header. */
import { sqlError } from "../../protocol/errors.js";
import { IMPORT_ROW_BYTES_MAX } from "../../protocol/limits.js";
import { CopyTextReader } from "../../values/copy-text-reader.js";
import type { CsvStyle } from "../../values/csv-format.js";
import { CsvReader, FIELD_PLAIN, FIELD_QUOTED, type RecordReader } from "../../values/csv-reader.js";

/** Names of columns, or all. */
export type NamedColumns = readonly string[] | "*";

export interface CopyRules {
  /** A condition over the columns of the file; null: all rows are stored. */
  readonly where: string | null;
  /** A quoted field that is the text of NULL is NULL. */
  readonly forceNull: NamedColumns;
  /** A field is never NULL. */
  readonly forceNotNull: NamedColumns;
  /** The header must have the names of the columns. */
  readonly matchesHeader: boolean;
}

export function csvReader(style: CsvStyle): RecordReader {
  return new CsvReader(style.delimiter, style.quote, IMPORT_ROW_BYTES_MAX, style.escape);
}

/** Of COPY's text format. */
export function copyTextReader({ delimiter, nullText }: CsvStyle): RecordReader {
  return new CopyTextReader(delimiter, nullText, IMPORT_ROW_BYTES_MAX);
}

/** Makes fields of the row that was read NULL, or not NULL; undefined: no rule does. Throws 42703. */
export function forcingOf(
  { forceNull, forceNotNull }: CopyRules,
  names: readonly string[],
  nullText: string,
): ((reader: RecordReader) => void) | undefined {
  const nulls = placesOf("FORCE_NULL", forceNull, names);
  const others = placesOf("FORCE_NOT_NULL", forceNotNull, names);
  if (nulls.length + others.length === 0) return undefined;
  return (reader) => {
    const kinds = reader.kinds as number[];
    const become = (places: readonly number[], from: number, to: number) => {
      for (const place of places) {
        if (place < reader.count && kinds[place] === from && reader.text(place) === nullText) kinds[place] = to;
      }
    };
    // A column of both is NULL where the text is quoted, and not where it is not.
    const plain = others.filter((place) => kinds[place] === FIELD_PLAIN);
    become(nulls, FIELD_QUOTED, FIELD_PLAIN);
    become(plain, FIELD_PLAIN, FIELD_QUOTED);
  };
}

function placesOf(option: string, columns: NamedColumns, names: readonly string[]): number[] {
  if (columns === "*") return names.map((_, i) => i);
  return columns.map((name) => {
    const place = names.indexOf(name);
    if (place >= 0) return place;
    throw sqlError("42P10", `${option} column "${name}" not referenced by COPY`);
  });
}

/** Throws 22P04 for a header with other names. */
export function checkHeader(reader: RecordReader, names: readonly string[]): void {
  const line = { line: reader.line };
  if (reader.count !== names.length) {
    const message = `wrong number of fields in header line: got ${reader.count}, expected ${names.length}`;
    throw sqlError("22P04", message, line);
  }
  names.forEach((name, i) => {
    const got = reader.text(i);
    if (got === name) return;
    const message = `column name mismatch in header line field ${i + 1}: got "${got}", expected "${name}"`;
    throw sqlError("22P04", message, { ...line, column: name });
  });
}
