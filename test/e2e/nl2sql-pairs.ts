/** Questions with the SQL that answers them (test/golden/nl2sql), and whether an answer is right. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

export interface Pair {
  readonly question: string;
  readonly sql: string;
  /** Rules were only ever changed by looking at the others. */
  readonly isHeldBack: boolean;
}

export const SCHEMAS = ["shop", "school", "clinic"] as const;

const FOLDER = new URL("../../../test/golden/nl2sql/", import.meta.url);

export function schemaSql(schema: string): string[] {
  const text = readFileSync(new URL(`${schema}.sql`, FOLDER), "utf8");
  return text
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}

/** A question's hash says which half it is in. */
export function pairsOf(schema: string): Pair[] {
  const lines = readFileSync(new URL(`${schema}.txt`, FOLDER), "utf8")
    .trim()
    .split("\n");
  const pairs: Pair[] = [];
  for (let i = 0; i < lines.length; i += 2) {
    const question = lines[i]!.replace(/^\? /, "");
    const hash = createHash("sha256").update(question).digest();
    pairs.push({ question, sql: lines[i + 1]!, isHeldBack: hash[0]! % 2 === 1 });
  }
  return pairs;
}

type Rows = readonly (readonly unknown[])[];

/** Numbers as numbers, so that 2.50 is 2.5. */
function text(value: unknown): string {
  if (typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value)) return String(Number(value).toPrecision(12));
  return typeof value === "number" ? String(Number(value.toPrecision(12))) : JSON.stringify(value);
}

/**
 * Right: the same rows, in the same order where the SQL gives one, and the columns of the SQL are among those of the
 * answer. (Who asks for customers may be shown their ids as well.)
 */
export function isRight(expected: Rows, answer: Rows, ordered: boolean): boolean {
  if (expected.length !== answer.length) return false;
  if (expected.length === 0) return true;
  const width = expected[0]!.length;
  const joined = (rows: Rows, columns: readonly number[]) => {
    const lines = rows.map((row) => columns.map((column) => text(row[column])).join("\u0000"));
    return (ordered ? lines : lines.sort()).join("\n");
  };
  const all = Array.from({ length: width }, (_, i) => i);
  const wanted = joined(expected, all);
  const search = (columns: readonly number[]): boolean => {
    if (columns.length === width) return joined(answer, columns) === wanted;
    const sample = (rows: Rows, column: number) =>
      rows
        .map((row) => text(row[column]))
        .sort()
        .join("\n");
    const next = sample(expected, columns.length);
    return answer[0]!.some(
      (_, column) => !columns.includes(column) && sample(answer, column) === next && search([...columns, column]),
    );
  };
  return search([]);
}
