/** Items of SQL/JSON paths, and what their methods (json-path-methods.ts) need of the executor (json-path-exec.ts). */
import type { PathItem } from "../../../values/json-path.js";
import { Numeric } from "../../../values/numeric.js";
import type { JsonObject } from "./json-member.js";
import type { JsonIds } from "./json-path-ids.js";
import { Moment } from "./json-path-moment.js";

/** What a run knows of its statement. */
export interface PathSession {
  readonly timeZone: string;
  readonly nowMicros: number;
  checkpoint(): void;
}

export type Outcome = "ok" | "none" | "error";
/** Where found items go; null when only their existence matters, so that the first one ends the search. */
export type Found = unknown[] | null;

export const isNumber = (value: unknown): value is number | bigint | Numeric =>
  typeof value === "number" || typeof value === "bigint" || value instanceof Numeric;

export function isObject(value: unknown): value is JsonObject {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Numeric) &&
    !(value instanceof Moment)
  );
}

export function toNumeric(value: number | bigint | Numeric): Numeric {
  if (value instanceof Numeric) return value;
  return typeof value === "bigint" ? Numeric.fromInteger(value) : Numeric.fromNumber(value);
}

/** A running path, as its methods see it. */
export interface PathExecution {
  readonly lax: boolean;
  readonly withZone: boolean;
  readonly session: PathSession;
  /** Identities of objects for keyvalue(). */
  readonly ids: JsonIds;
  /** An error of the data: thrown, or the outcome "error". */
  fail(code: string, message: string, hint?: string): "error";
  /** Hands a result to what follows in the path, or to the caller. */
  proceed(item: PathItem, result: unknown, found: Found): Outcome;
}
