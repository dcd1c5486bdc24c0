/**
 * The functions that PostgreSQL's operators call, by their names in pg_proc (int4pl, booleq, texticlike, …): the
 * overloads of the operators themselves. Which operator a name belongs to is a rule of pg_operator.dat's naming.
 */
import {
  BIT,
  BOOL,
  BPCHAR,
  BYTEA,
  DATE,
  FLOAT4,
  FLOAT8,
  INET,
  INT2,
  INT4,
  INT8,
  INTERVAL,
  JSONB,
  MACADDR,
  NAME,
  NUMERIC,
  OID,
  type SqlType,
  TEXT,
  TIME,
  TIMESTAMP,
  TIMESTAMPTZ,
  TIMETZ,
  UUID,
  VARBIT,
} from "../../../values/values.js";
import type { ScalarFunction } from "../expr.js";
import { ARITHMETIC } from "./arithmetic.js";
import { BIT_OPERATORS } from "./bit-strings.js";
import { COMPARISONS } from "./comparison.js";
import { DATETIME_OPERATORS } from "./datetime.js";
import { PATTERN_OPERATORS } from "./pattern.js";

const OPERATORS = [...COMPARISONS, ...ARITHMETIC, ...DATETIME_OPERATORS, ...BIT_OPERATORS, ...PATTERN_OPERATORS];
/** Each thread makes all names when it starts. */
const BY_SYMBOL = new Map<string, ScalarFunction[]>();
for (const overload of OPERATORS) {
  const others = BY_SYMBOL.get(overload.operator!);
  if (others === undefined) BY_SYMBOL.set(overload.operator!, [overload]);
  else others.push(overload);
}

function named(name: string, symbol: string, args: readonly SqlType[]): ScalarFunction[] {
  const overload = BY_SYMBOL.get(symbol)?.find(
    (other) => other.args.length === args.length && other.args.every((arg, i) => arg === args[i]),
  );
  if (overload === undefined) return [];
  const { operator, ...rest } = overload;
  return [Object.freeze({ ...rest, name })];
}

/** Suffixes of names and their operators. */
const COMPARED = { eq: "=", ne: "<>", lt: "<", le: "<=", gt: ">", ge: ">=" };
const COMPUTED = { pl: "+", mi: "-", mul: "*", div: "/", mod: "%", and: "&", or: "|", xor: "#", shl: "<<", shr: ">>" };

const both = (prefix: string, suffixes: Readonly<Record<string, string>>, a: SqlType, b: SqlType) =>
  Object.entries(suffixes).flatMap(([suffix, symbol]) => named(`${prefix}${suffix}`, symbol, [a, b]));

const SIZES: readonly (readonly [string, SqlType])[] = [
  ["2", INT2],
  ["4", INT4],
  ["8", INT8],
];
const FLOAT_SIZES: readonly (readonly [string, SqlType])[] = [
  ["4", FLOAT4],
  ["8", FLOAT8],
];

/** int4pl of one size, int48pl of two. */
function sized(kind: string, sizes: readonly (readonly [string, SqlType])[]): ScalarFunction[] {
  const suffixes = { ...COMPARED, ...COMPUTED };
  return sizes.flatMap(([x, a]) => [
    ...sizes.flatMap(([y, b]) => both(`${kind}${x === y ? x : x + y}`, suffixes, a, b)),
    ...named(`${kind}${x}um`, "-", [a]),
    ...named(`${kind}${x}up`, "+", [a]),
    ...named(`${kind}${x}not`, "~", [a]),
  ]);
}

/** Prefixes in front of eq, ne, lt, …; an underscore belongs to the name. */
const PREFIXES: readonly (readonly [string, SqlType])[] = [
  ["bool", BOOL],
  ["oid", OID],
  ["name", NAME],
  ["bpchar", BPCHAR],
  ["bytea", BYTEA],
  ["bit", BIT],
  ["varbit", VARBIT],
  ["date_", DATE],
  ["time_", TIME],
  ["timetz_", TIMETZ],
  ["timestamp_", TIMESTAMP],
  ["timestamptz_", TIMESTAMPTZ],
  ["interval_", INTERVAL],
  ["numeric_", NUMERIC],
  ["uuid_", UUID],
  ["jsonb_", JSONB],
  ["network_", INET],
  ["macaddr_", MACADDR],
];

const NAMED: readonly (readonly [string, string, ...SqlType[]])[] = [
  ["texteq", "=", TEXT, TEXT],
  ["textne", "<>", TEXT, TEXT],
  ["text_lt", "<", TEXT, TEXT],
  ["text_le", "<=", TEXT, TEXT],
  ["text_gt", ">", TEXT, TEXT],
  ["text_ge", ">=", TEXT, TEXT],
  ["textlike", "~~", TEXT, TEXT],
  ["textnlike", "!~~", TEXT, TEXT],
  ["texticlike", "~~*", TEXT, TEXT],
  ["texticnlike", "!~~*", TEXT, TEXT],
  ["textregexeq", "~", TEXT, TEXT],
  ["textregexne", "!~", TEXT, TEXT],
  ["texticregexeq", "~*", TEXT, TEXT],
  ["texticregexne", "!~*", TEXT, TEXT],
  ["numeric_add", "+", NUMERIC, NUMERIC],
  ["numeric_sub", "-", NUMERIC, NUMERIC],
  ["numeric_mul", "*", NUMERIC, NUMERIC],
  ["numeric_div", "/", NUMERIC, NUMERIC],
  ["numeric_mod", "%", NUMERIC, NUMERIC],
  ["numeric_uminus", "-", NUMERIC],
  ["numeric_uplus", "+", NUMERIC],
  ["date_pli", "+", DATE, INT4],
  ["date_mii", "-", DATE, INT4],
  ["date_mi", "-", DATE, DATE],
  ["date_pl_interval", "+", DATE, INTERVAL],
  ["date_mi_interval", "-", DATE, INTERVAL],
  ["time_pl_interval", "+", TIME, INTERVAL],
  ["time_mi_interval", "-", TIME, INTERVAL],
  ["time_mi_time", "-", TIME, TIME],
  ["timestamp_mi", "-", TIMESTAMP, TIMESTAMP],
  ["timestamp_pl_interval", "+", TIMESTAMP, INTERVAL],
  ["timestamp_mi_interval", "-", TIMESTAMP, INTERVAL],
  ["timestamptz_mi", "-", TIMESTAMPTZ, TIMESTAMPTZ],
  ["timestamptz_pl_interval", "+", TIMESTAMPTZ, INTERVAL],
  ["timestamptz_mi_interval", "-", TIMESTAMPTZ, INTERVAL],
  ["interval_pl", "+", INTERVAL, INTERVAL],
  ["interval_mi", "-", INTERVAL, INTERVAL],
  ["interval_mul", "*", INTERVAL, FLOAT8],
  ["interval_div", "/", INTERVAL, FLOAT8],
  ["interval_um", "-", INTERVAL],
  ["bitand", "&", BIT, BIT],
  ["bitor", "|", BIT, BIT],
  ["bitxor", "#", BIT, BIT],
  ["bitnot", "~", BIT],
  ["bitshiftleft", "<<", BIT, INT4],
  ["bitshiftright", ">>", BIT, INT4],
];

export const OPERATOR_FUNCTIONS: readonly ScalarFunction[] = [
  ...sized("int", SIZES),
  ...sized("float", FLOAT_SIZES),
  ...PREFIXES.flatMap(([prefix, type]) => both(prefix, COMPARED, type, type)),
  ...NAMED.flatMap(([name, symbol, ...args]) => named(name, symbol, args)),
];
