/** Everything else: identities of the session, UUIDs, type inspection, rows. */
import { randomUUID } from "node:crypto";
import { sqlError } from "../../../protocol/errors.js";
import { toText } from "../../../values/text-format.js";
import { sqlArray } from "../../../values/text-format-array.js";
import {
  arrayOf,
  BOOL,
  INT4,
  NAME,
  type SqlArray,
  type SqlType,
  TEXT,
  UUID,
  type Value,
} from "../../../values/values.js";
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

/** The parts of `a."B".c`. Throws 22023. */
function identifiersOf(text: string, isStrict: boolean): SqlArray {
  const parts: string[] = [];
  let rest = text.trimStart();
  for (;;) {
    const found = /^(?:"((?:[^"]|"")+)"|([\p{L}_][\p{L}\p{N}_$]*))\s*/u.exec(rest);
    if (found === null) throw sqlError("22023", `string is not a valid identifier: "${text}"`);
    parts.push(found[1]?.replaceAll('""', '"') ?? found[2]!.toLowerCase());
    rest = rest.slice(found[0].length);
    if (!rest.startsWith(".")) break;
    rest = rest.slice(1).trimStart();
  }
  if (rest !== "" && isStrict) throw sqlError("22023", `string is not a valid identifier: "${text}"`);
  return sqlArray(parts);
}

export const MISC_FUNCTIONS: readonly ScalarFunction[] = [
  ...aliases(
    ["gen_random_uuid", "gen_uuid", "uuid", "uuid_generate_v4"],
    fn("gen_random_uuid", [], UUID, () => randomUUID(), VOLATILE),
  ),
  fn("version", [], TEXT, () => "PostgreSQL 15.0 (Tessera)", { volatility: "stable" }),
  ...["current_user", "user", "current_role"].map((name) => named(name, NAME, ({ user }) => user)),
  named("session_user", NAME, ({ user, sessionUser = user }) => sessionUser),
  ...["current_database", "current_catalog"].map((name) => named(name, NAME, ({ tenant }) => tenant)),
  fn("parse_ident", [TEXT], arrayOf(TEXT), (text: string) => identifiersOf(text, true)),
  fn("parse_ident", [TEXT, BOOL], arrayOf(TEXT), identifiersOf),
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

/** Text is compared by code point, whatever the type. Throws 42804 for types without text. */
function collationFor(type: SqlType): Value {
  const element = type.element ?? type;
  if (["text", "varchar", "bpchar", "unknown"].includes(element.name)) return '"default"';
  if (element.name === "name") return '"C"';
  throw sqlError("42804", `collations are not supported by type ${displayName(type)}`);
}

const WIDTHS: Readonly<Record<string, number>> = {
  bool: 1,
  char: 1,
  int2: 2,
  int4: 4,
  oid: 4,
  float4: 4,
  date: 4,
  int8: 8,
  float8: 8,
  time: 8,
  timestamp: 8,
  timestamptz: 8,
  timetz: 12,
  interval: 16,
  uuid: 16,
  name: 64,
};

/** Bytes of the value as it is written, with those of a length in front; of a type of fixed width that. */
function bytesOf(type: SqlType, value: Value): number {
  const width = type.element === null ? WIDTHS[type.name] : undefined;
  if (width !== undefined) return width;
  if (value instanceof Uint8Array) return value.byteLength + 4;
  if (value instanceof Float32Array) return value.byteLength + 8;
  return Buffer.byteLength(toText(type, value)) + 4;
}

export const MISC_FAMILIES: readonly FunctionFamily[] = [
  counting("num_nulls", (value) => value === null),
  counting("num_nonnulls", (value) => value !== null),
  ofType("pg_typeof", TEXT, displayName),
  ofType("pg_collation_for", TEXT, collationFor),
  family("pg_column_size", formOf(["any"], INT4), (types) => {
    const [given] = types;
    if (types.length !== 1 || given === undefined) return null;
    const type = given.name === "unknown" ? TEXT : given;
    return fn("pg_column_size", [type], INT4, (value: Value) => bytesOf(type, value));
  }),
];
