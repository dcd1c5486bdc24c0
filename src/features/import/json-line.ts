/**
 * One line of a file with a JSON value per line, and what is said to a client whose file is one JSON value instead. No
 * state.
 */
import { DbError } from "../../protocol/errors.js";
import { jsonFaultOf } from "../../protocol/json-fault.js";
import { parseKeepingIntegers } from "../../values/json-text.js";

export type JsonRow = Readonly<Record<string, unknown>> | unknown[];

const ONE_VALUE =
  "NDJSON has one whole value on each line, without brackets and commas around: jq -c '.[]' makes such lines of a JSON array.";

/** Large whole numbers are BigInts. Throws invalid_json. */
export function jsonLine(text: string, line: number): JsonRow {
  let value: unknown;
  try {
    value = parseKeepingIntegers(text);
  } catch {
    const message = `Line ${line} is not valid JSON: ${jsonFaultOf(text)}.`;
    // Of a value over several lines the first one is cut.
    const isCut = line === 1 && /^\s*[[{]/.test(text);
    throw new DbError("invalid_json", message, { line, ...(isCut && { hint: ONE_VALUE }) });
  }
  return jsonRow(value, line);
}

export function jsonRow(value: unknown, line: number): JsonRow {
  if (typeof value === "object" && value !== null) return value as JsonRow;
  throw new DbError("invalid_json", `Line ${line} is neither an object nor an array.`, { line });
}

/**
 * Throws invalid_json for a first line that is the whole file as an array of rows. An array is a row's fields
 * otherwise.
 */
export function refuseArrayOfRows(value: JsonRow, line: number): void {
  if (line !== 1 || !Array.isArray(value) || value.length === 0) return;
  const isRow = (item: unknown) => typeof item === "object" && item !== null && !Array.isArray(item);
  if (!value.every(isRow)) return;
  throw new DbError("invalid_json", "Line 1 is an array of objects; NDJSON has an object on each line.", {
    line,
    hint: ONE_VALUE,
  });
}

/** The error of an import of CSV whose file begins as JSON does says so. */
export function saidOfJsonFile(error: unknown, beginning: string): unknown {
  if (!(error instanceof DbError) || !/^\s*(?:\[\s*)?\{\s*"/.test(beginning)) return error;
  const hint = "The file looks like JSON: POST /v1/data/import/ndjson takes an object on each line.";
  return new DbError(error.code, error.message, { ...error.details, hint });
}
