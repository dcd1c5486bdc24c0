/** Calls that are written as syntax of their own: EXTRACT(year FROM x), x AT TIME ZONE y, TRIM(BOTH x FROM y). */
import type { CallNode } from "./ast-query.js";

const TRIMMED: Readonly<Record<string, string>> = { btrim: "BOTH", ltrim: "LEADING", rtrim: "TRAILING" };

/** Texts of the arguments by their places: alone, and as operands. */
export interface ArgumentTexts {
  text(i: number): string;
  operand(i: number): string;
  /** The second argument is a number of characters. */
  readonly isCount: boolean;
}

/** null: it can only be written as a call. */
export function printSyntax({ path, args }: CallNode, { text, operand, isCount }: ArgumentTexts): string | null {
  const name = path.at(-1)!;
  const [first, second] = args.map(({ value }) => value);
  const { length } = args;
  const last = (word: string, i: number) => (length > i ? ` ${word} ${text(i)}` : "");
  switch (name) {
    case "timezone":
      return length === 2 ? `(${operand(1)} AT TIME ZONE ${operand(0)})` : null;
    case "extract":
      return first?.kind === "string" && /^\w+$/.test(first.value) ? `EXTRACT(${first.value} FROM ${text(1)})` : null;
    case "overlaps":
      return length === 4 ? `((${text(0)}, ${text(1)}) OVERLAPS (${text(2)}, ${text(3)}))` : null;
    case "position":
      return `POSITION((${text(1)}) IN (${text(0)}))`;
    case "overlay":
      return `OVERLAY(${text(0)} PLACING ${text(1)} FROM ${text(2)}${last("FOR", 3)})`;
    case "substring":
      if (isCount) return `SUBSTRING(${text(0)} FROM ${text(1)}${last("FOR", 2)})`;
      return length === 3 ? `SUBSTRING(${text(0)} SIMILAR ${text(1)} ESCAPE ${text(2)})` : null;
    case "btrim":
    case "ltrim":
    case "rtrim":
      return `TRIM(${TRIMMED[name]}${length === 2 ? ` ${text(1)}` : ""} FROM ${text(0)})`;
    case "pg_collation_for":
      return `COLLATION FOR (${text(0)})`;
    case "normalize":
      if (second === undefined) return `NORMALIZE(${text(0)})`;
      return second.kind === "string" ? `NORMALIZE(${text(0)}, ${second.value})` : null;
    case "is_normalized":
      if (second === undefined) return `(${operand(0)} IS NORMALIZED)`;
      return second.kind === "string" ? `(${operand(0)} IS ${second.value} NORMALIZED)` : null;
    default:
      return null;
  }
}
