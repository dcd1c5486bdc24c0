/** Everything else: identities of the session, UUIDs, type inspection, rows. */
import { randomUUID } from "node:crypto";
import { sqlError } from "../../../protocol/errors.js";
import { BOOL, INT4, NAME, type SqlType, TEXT, UUID, type Value } from "../../../values/values.js";
import type { EvalContext, ScalarFunction } from "../expr.js";
import { displayName } from "../types.js";
import { aliases, contextFn, type FunctionFamily, family, fn, formOf, matchPatterns } from "./define.js";

const VOLATILE = { volatility: "volatile" } as const;

function setting(context: EvalContext, name: string): string | null {
  switch (name.toLowerCase()) {
    case "timezone":
      return context.timeZone;
    case "server_version":
      return "15.0";
    case "server_encoding":
    case "client_encoding":
      return "UTF8";
    case "search_path":
      return "public";
    case "datestyle":
      return "ISO, MDY";
    case "intervalstyle":
      return "postgres";
    case "standard_conforming_strings":
      return "on";
    default:
      return null;
  }
}

function currentSetting(context: EvalContext, name: string, missingOk = false): string | null {
  const value = context.services.setting(name) ?? setting(context, name);
  if (value === null && !missingOk) throw sqlError("42704", `unrecognized configuration parameter "${name}"`);
  return value;
}

const named = (name: string, returns: SqlType, read: (context: EvalContext) => Value) =>
  contextFn(name, [], returns, read);

export const MISC_FUNCTIONS: readonly ScalarFunction[] = [
  ...aliases(
    ["gen_random_uuid", "gen_uuid", "uuid", "uuid_generate_v4"],
    fn("gen_random_uuid", [], UUID, () => randomUUID(), VOLATILE),
  ),
  fn("version", [], TEXT, () => "PostgreSQL 15.0 (Tessera)", { volatility: "stable" }),
  ...["current_user", "session_user", "user", "current_role"].map((name) => named(name, NAME, ({ user }) => user)),
  ...["current_database", "current_catalog"].map((name) => named(name, NAME, ({ tenant }) => tenant)),
  contextFn("current_setting", [TEXT], TEXT, currentSetting),
  contextFn("current_setting", [TEXT, BOOL], TEXT, currentSetting),
];

function counting(name: string, counts: (value: Value) => boolean): FunctionFamily {
  return family(name, "(any, …) → integer", (types) => {
    const match =
      types.length === 0
        ? null
        : matchPatterns(
            types.map(() => "any" as const),
            types,
          );
    if (match === null) return null;
    return fn(name, match.args, INT4, (...values: Value[]) => values.filter(counts).length, { strict: false });
  });
}

/** A function of one value that only its type answers. */
function ofType(name: string, returns: SqlType, answer: (type: SqlType) => Value): FunctionFamily {
  return family(name, formOf(["any"], returns), (types) => {
    const [type] = types;
    if (types.length !== 1 || type === undefined) return null;
    const value = answer(type);
    return fn(name, [type], returns, () => value, { strict: false });
  });
}

export const MISC_FAMILIES: readonly FunctionFamily[] = [
  counting("num_nulls", (value) => value === null),
  counting("num_nonnulls", (value) => value !== null),
  ofType("pg_typeof", TEXT, displayName),
];
