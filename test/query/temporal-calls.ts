import type { DbError } from "../../src/protocol/errors.js";
import { TEMPORAL_FUNCTIONS } from "../../src/query/expr/cypher/temporal-functions.js";
import type { EvalContext } from "../../src/query/expr/expr.js";
import { NO_SERVICES } from "../../src/query/expr/no-services.js";
import type { CypherDate, Duration, LocalDateTime, Temporal, ZonedDateTime } from "../../src/values/temporal.js";
import { temporalToText } from "../../src/values/temporal-text.js";
import type { Variant } from "../../src/values/variant.js";

export const UTC: EvalContext = {
  params: [],
  transactionMicros: Date.UTC(2024, 1, 29, 13, 5, 7) * 1000,
  statementMicros: Date.UTC(2024, 1, 29, 23, 30, 8) * 1000 + 123_456,
  timeZone: "UTC",
  user: "u",
  tenant: "t",
  outer: null,
  checkpoint() {},
  services: NO_SERVICES,
};

export function callIn(context: EvalContext, name: string, ...args: unknown[]): Variant {
  const fn = TEMPORAL_FUNCTIONS.find((f) => f.name === name && f.args.length === args.length);
  if (fn === undefined) throw new Error(`no function ${name} of ${args.length}`);
  return fn.apply(context, ...args.map(variant)) as Variant;
}

/** Objects are maps. */
export function variant(x: unknown): unknown {
  const isPlain = typeof x === "object" && x !== null && Object.getPrototypeOf(x) === Object.prototype;
  return isPlain ? new Map(Object.entries(x)) : x;
}

export const call = (name: string, ...args: unknown[]) => callIn(UTC, name, ...args);
export const text = (value: Variant) => temporalToText(value as Temporal);
export const date = (x: unknown) => call("date", x) as CypherDate;
export const datetime = (x: unknown) => call("datetime", x) as ZonedDateTime;
export const localdatetime = (x: unknown) => call("localdatetime", x) as LocalDateTime;
export const duration = (x: unknown) => call("duration", x) as Duration;

export function errorOf(run: () => unknown): string {
  try {
    const value = run();
    return `no error but ${text(value as Variant)}`;
  } catch (error) {
    const { type, detail } = (error as DbError).details as { type: string; detail: string };
    return `${type} ${detail}`;
  }
}
