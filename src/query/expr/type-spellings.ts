/**
 * How the names of types may be written, in PostgreSQL's way and in that of other dialects, and the type that a name
 * means.
 */
import { sqlError } from "../../protocol/errors.js";
import { SPARSE_DIMENSIONS_MAX, VECTOR_DIMENSIONS_MAX } from "../../protocol/limits.js";
import { nearestName } from "../../protocol/nearest-name.js";
import { namedOidType } from "../../values/catalog-types.js";
import { arrayOf, numericType, type SqlType, type TypeName, typeOf } from "../../values/values.js";
import { displayName } from "./types.js";

/** Every spelling of a type: PostgreSQL's, then those that clients of other dialects send. */
const SPELLINGS: Readonly<Record<string, TypeName>> = {
  bool: "bool",
  boolean: "bool",
  int2: "int2",
  smallint: "int2",
  int: "int4",
  int4: "int4",
  integer: "int4",
  int8: "int8",
  bigint: "int8",
  oid: "oid",
  float4: "float4",
  real: "float4",
  float8: "float8",
  float: "float8",
  "double precision": "float8",
  numeric: "numeric",
  decimal: "numeric",
  dec: "numeric",
  text: "text",
  varchar: "varchar",
  "character varying": "varchar",
  bpchar: "bpchar",
  char: "char",
  character: "bpchar",
  name: "name",
  citext: "citext",
  hstore: "hstore",
  ltree: "ltree",
  lquery: "lquery",
  ltxtquery: "ltxtquery",
  uuid: "uuid",
  bytea: "bytea",
  date: "date",
  time: "time",
  "time without time zone": "time",
  timetz: "timetz",
  "time with time zone": "timetz",
  timestamp: "timestamp",
  "timestamp without time zone": "timestamp",
  timestamptz: "timestamptz",
  "timestamp with time zone": "timestamptz",
  interval: "interval",
  json: "json",
  jsonb: "jsonb",
  jsonpath: "jsonpath",
  vector: "vector",
  halfvec: "halfvec",
  sparsevec: "sparsevec",
  inet: "inet",
  cidr: "cidr",
  macaddr: "macaddr",
  macaddr8: "macaddr8",
  money: "money",
  point: "point",
  line: "line",
  lseg: "lseg",
  box: "box",
  path: "path",
  polygon: "polygon",
  circle: "circle",
  int4range: "int4range",
  int8range: "int8range",
  numrange: "numrange",
  daterange: "daterange",
  tsrange: "tsrange",
  tstzrange: "tstzrange",
  int4multirange: "int4multirange",
  int8multirange: "int8multirange",
  nummultirange: "nummultirange",
  datemultirange: "datemultirange",
  tsmultirange: "tsmultirange",
  tstzmultirange: "tstzmultirange",
  tid: "tid",
  xid: "xid",
  xid8: "xid8",
  pg_lsn: "pg_lsn",
  pg_snapshot: "pg_snapshot",
  txid_snapshot: "txid_snapshot",
  int2vector: "int2vector",
  oidvector: "oidvector",
  tsvector: "tsvector",
  tsquery: "tsquery",
  regconfig: "regconfig",
  bit: "bit",
  varbit: "varbit",
  "bit varying": "varbit",
  record: "record",
  variant: "variant",
  void: "void",
  unknown: "unknown",
  datetime: "timestamp",
  double: "float8",
  tinyint: "int2",
  mediumint: "int4",
  longblob: "bytea",
  mediumblob: "bytea",
  tinyblob: "bytea",
  blob: "bytea",
  binary: "bytea",
  varbinary: "bytea",
  longtext: "text",
  mediumtext: "text",
  tinytext: "text",
  string: "text",
  clob: "text",
};

/** How a type's name may be written. */
export function spellingsOf(name: TypeName): readonly string[] {
  return Object.keys(SPELLINGS).filter((spelling) => SPELLINGS[spelling] === name);
}

/** Whether a name without a schema is that of a type which every tenant has. */
export function isBuiltInType(name: string): boolean {
  const spelled = name.toLowerCase();
  return Object.hasOwn(SPELLINGS, spelled) || namedOidType(spelled) !== null;
}

/** Whether `typeFromName` knows the name. */
export function isTypeName(name: string): boolean {
  const spelled = name.toLowerCase().replace(/^pg_catalog\./, "");
  return isBuiltInType(spelled) || (spelled.startsWith("_") && isBuiltInType(spelled.slice(1)));
}

/**
 * The type of a name as written (any case, with or without `pg_catalog.`), its modifiers and array dimensions; a
 * leading underscore names an array, as in pg_type. Throws 42704 for an unknown name, 22023 for bad modifiers.
 */
export function typeFromName(name: string, modifiers: readonly number[] = [], arrayDims = 0): SqlType {
  const spelled = name.toLowerCase().replace(/^pg_catalog\./, "");
  const named = namedOidType(spelled);
  if (named !== null) {
    if (modifiers.length > 0) throw sqlError("42601", `type modifier is not allowed for type "${spelled}"`);
    return arrayDims > 0 ? arrayOf(named) : named;
  }
  const known = Object.hasOwn(SPELLINGS, spelled) ? SPELLINGS[spelled] : undefined;
  if (known === undefined) {
    const element = spelled.startsWith("_") ? spelled.slice(1) : "";
    if (!isBuiltInType(element)) {
      const near = nearestName(spelled, Object.keys(SPELLINGS));
      throw sqlError("42704", `type "${name}" does not exist`, near === null ? {} : { hint: `Did you mean ${near}?` });
    }
    return typeFromName(element, modifiers, Math.max(1, arrayDims));
  }
  const type = withModifiers(known, modifiers, spelled);
  // PostgreSQL's arrays are of any number of dimensions whatever was declared.
  return arrayDims > 0 ? arrayOf(type) : type;
}

function withModifiers(name: TypeName, modifiers: readonly number[], spelled: string): SqlType {
  const [first, second] = modifiers;
  if (first === undefined && spelled === "bit") return typeOf("bit", 1);
  if (first === undefined) return spelled === "character" ? typeOf("bpchar", 1) : typeOf(name);
  switch (name) {
    case "numeric":
      return numericWith(first, second ?? 0);
    case "varchar":
    case "bpchar":
    case "bit":
    case "varbit":
      return lengthWith(name, first);
    case "vector":
    case "halfvec":
    case "sparsevec": {
      const most = name === "sparsevec" ? SPARSE_DIMENSIONS_MAX : VECTOR_DIMENSIONS_MAX;
      if (first < 1) throw sqlError("22023", `dimensions for type ${name} must be at least 1`);
      if (second !== undefined) throw sqlError("22023", "invalid type modifier");
      if (first > most) throw sqlError("22023", `dimensions for type ${name} cannot exceed ${most}`);
      return typeOf(name, first);
    }
    case "time":
    case "timetz":
    case "timestamp":
    case "timestamptz":
      if (first < 0)
        throw sqlError("22023", `${displayName(typeOf(name)).toUpperCase()} precision must not be negative`);
      return typeOf(name, Math.min(first, 6));
    case "interval":
      return typeOf(name, first * 65_536 + (second === undefined ? 0xffff : Math.min(second, 6)));
    case "float8":
      // MySQL's FLOAT(n); PostgreSQL's grammar has already turned its own into float4 or float8.
      return typeOf(first <= 24 ? "float4" : "float8");
    case "int2":
    case "int4":
    case "int8":
    case "bytea":
    case "text":
      // Display widths and byte lengths of other dialects carry no meaning here.
      if (!isPostgresName(spelled)) return typeOf(name);
      throw noModifier(name);
    default:
      throw noModifier(name);
  }
}

const noModifier = (name: TypeName) => sqlError("42601", `type modifier is not allowed for type "${name}"`);
const isPostgresName = (spelled: string): boolean => SPELLINGS[spelled] === spelled;

function numericWith(precision: number, scale: number): SqlType {
  if (precision < 1 || precision > 1000) {
    throw sqlError("22023", `NUMERIC precision ${precision} must be between 1 and 1000`);
  }
  if (scale < -1000 || scale > 1000) {
    throw sqlError("22023", `NUMERIC scale ${scale} must be between -1000 and 1000`);
  }
  return numericType(precision, scale);
}

function lengthWith(name: "varchar" | "bpchar" | "bit" | "varbit", length: number): SqlType {
  const spelled = name === "bpchar" ? "char" : name;
  if (length < 1) throw sqlError("22023", `length for type ${spelled} must be at least 1`);
  if (length > 10_485_760) throw sqlError("22023", `length for type ${spelled} cannot exceed 10485760`);
  return typeOf(name, length);
}
