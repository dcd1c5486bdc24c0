/**
 * The type system shared by every language and model, and how a value of each type is held in memory.
 *
 * | types                         | JavaScript value                                                                |
 * |-------------------------------|---------------------------------------------------------------------------------|
 * | any NULL                      | null                                                                            |
 * | bool                          | boolean                                                                         |
 * | int2 int4 oid                 | number                                                                          |
 * | int8                          | number when |x| ≤ 2^53−1, else bigint (always normalised that way)              |
 * | float4 float8                 | number (float4 rounded with Math.fround)                                        |
 * | numeric                       | Numeric (numeric.ts): unscaled bigint and scale, NaN, ±Infinity                 |
 * | text varchar bpchar name      | string                                                                          |
 * | citext                        | string, as it was written                                                       |
 * | uuid                          | string, lower case with dashes                                                  |
 * | bytea                         | Uint8Array                                                                      |
 * | date                          | number: days since 1970-01-01; ±Infinity                                        |
 * | time                          | number: microseconds since midnight                                             |
 * | timetz                        | TimeTz                                                                          |
 * | timestamp timestamptz         | Timestamp (timestamp.ts): microseconds since 1970-01-01T00:00:00 (UTC for       |
 * |                               | timestamptz) as a number where that is exact, else a bigint; ±Infinity          |
 * | interval                      | Interval                                                                        |
 * | json jsonb                    | Json (json keeps its text; jsonb a parsed value)                                |
 * | jsonpath                      | JsonPath (json-path.ts)                                                         |
 * | bit varbit                    | string of zeros and ones                                                        |
 * | inet cidr                     | string: address/bits, see network.ts                                            |
 * | macaddr macaddr8              | string: lower-case bytes with colons                                            |
 * | point line lseg box path      | string: as PostgreSQL prints it                                                 |
 * | polygon circle                | the same                                                                        |
 * | ranges and multiranges        | string: as PostgreSQL prints it, moments in UTC, see range.ts                   |
 * | hstore                        | string: as PostgreSQL prints it, see hstore.ts                                  |
 * | ltree lquery ltxtquery        | string: as PostgreSQL prints it, see ltree.ts                                   |
 * | tid xid int2vector oidvector  | the same                                                                        |
 * | xid8 pg_lsn                   | string: 16 hexadecimal digits, see wide-numbers.ts                              |
 * | pg_snapshot txid_snapshot     | string: as PostgreSQL prints it, see wide-numbers.ts                            |
 * | tsvector tsquery              | string: as PostgreSQL prints it, see ts-vector.ts, ts-query.ts                  |
 * | regconfig                     | string: the name of a text search configuration                                 |
 * | "char"                        | string of one character up to U+00FF, which stands for a byte; empty: the byte 0 |
 * | enum                          | string: the label                                                               |
 * | vector                        | Float32Array of 1 to 16,000 finite numbers; never changed once it is a value;   |
 * |                               | it may be a part of a larger buffer                                             |
 * | T[]                           | SqlArray                                                                        |
 * | record                        | readonly Value[], one per field; the type knows the fields' names and types     |
 * | variant                       | a value that knows its type, see variant.ts                                     |
 *
 * A column of a batch holds these values in a plain array; a typed array may stand in where a type and its column
 * have no NULLs. Nothing outside this room may invent another representation.
 */
import { sqlError } from "../protocol/errors.js";
import { RECORD_TYPE_CHARACTERS_MAX } from "../protocol/limits.js";
import type { JsonPath } from "./json-path.js";
import { checkJson, parseJson } from "./json-text.js";
import type { Numeric } from "./numeric.js";
import type { Variant } from "./variant.js";

export type TypeName =
  | "unknown"
  | "bool"
  | "int2"
  | "int4"
  | "int8"
  | "oid"
  | "float4"
  | "float8"
  | "numeric"
  | "money"
  | "text"
  | "varchar"
  | "bpchar"
  | "name"
  | "citext"
  | "hstore"
  | "ltree"
  | "lquery"
  | "ltxtquery"
  | "uuid"
  | "bytea"
  | "date"
  | "time"
  | "timetz"
  | "timestamp"
  | "timestamptz"
  | "interval"
  | "json"
  | "jsonb"
  | "jsonpath"
  | "vector"
  | "halfvec"
  | "sparsevec"
  | "enum"
  | "bit"
  | "varbit"
  | "inet"
  | "cidr"
  | "macaddr"
  | "macaddr8"
  | "tsvector"
  | "tsquery"
  | "regconfig"
  | GeometricName
  | RangeName
  | MultirangeName
  | OwnRangeName
  | SystemTypeName
  | "array"
  | "variant"
  | "record"
  | "void";

/** Geometric types have no order. */
export type GeometricName = "point" | "line" | "lseg" | "box" | "path" | "polygon" | "circle";

export type RangeName = "int4range" | "int8range" | "numrange" | "daterange" | "tsrange" | "tstzrange";
export type MultirangeName =
  | "int4multirange"
  | "int8multirange"
  | "nummultirange"
  | "datemultirange"
  | "tsmultirange"
  | "tstzmultirange";

/** What every type that CREATE TYPE … AS RANGE made is here, and its multirange; the type itself knows of what. */
export type OwnRangeName = "range" | "multirange";

/** Types of system catalogs, which can be stored, read and printed. */
export type SystemTypeName =
  | "tid"
  | "xid"
  | "xid8"
  | "pg_snapshot"
  | "txid_snapshot"
  | "pg_lsn"
  | "int2vector"
  | "oidvector"
  | "char";

/** Interned: two equal types are the same object, so `===` compares types. Make them with the functions below. */
export interface SqlType {
  readonly name: TypeName;
  /**
   * varchar/bpchar/bit/varbit: length; time types: fractional digits; vector: dimensions; numeric: precision * 2048 +
   * scale.
   */
  readonly modifier: number | null;
  /** Of an array: its element type. */
  readonly element: SqlType | null;
  /** Of a record whose fields are known: rows of a table, composite types, ROW(…). */
  readonly fields?: readonly RecordField[];
  /** Of a table's rows: its name. Of a type in catalog-types.ts: the name that it goes by. */
  readonly typeName?: string;
  /** Of a type that a statement made (CREATE TYPE, CREATE DOMAIN). A domain otherwise looks like the type below it. */
  readonly user?: UserType;
}

export interface EnumLabel {
  readonly label: string;
  /** What orders the labels, and what is stored; it stays when labels are added or renamed. */
  readonly order: number;
}

export interface RecordField {
  readonly name: string;
  readonly type: SqlType;
  /** Where stored values of a composite type have the field, once fields have been dropped; absent: where it stands. */
  readonly slot?: number;
}

/** What a type that a statement made is, as of one version of the definitions. */
export interface UserType {
  readonly kind: "enum" | "domain" | "composite" | "range" | "multirange";
  /** The definition's id, unique within the tenant. */
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  /** Of an enum, in order. */
  readonly labels: readonly EnumLabel[];
  /** Of a composite type. */
  readonly fields: readonly RecordField[];
  /** Of a domain. */
  readonly base: SqlType | null;
  /** Of a range: the type of its bounds. Of a multirange: the type of its ranges. */
  readonly part?: SqlType;
  /** Of a range: its multirange. */
  readonly list?: Pick<UserType, "id" | "schema" | "name">;
}

export interface TimeTz {
  readonly micros: number;
  /** Seconds east of UTC. */
  readonly offset: number;
}

export interface Interval {
  readonly months: number;
  readonly days: number;
  /** A bigint beyond 2^53, like an int8. */
  readonly micros: number | bigint;
}

/** A JSON value wrapped so that JSON null and SQL NULL stay apart. */
export class Json {
  private parsed: unknown;
  private isParsed = true;
  /** The compact text of a `jsonb` value where it is at hand: large ones keep it, so that it is not made again. */
  compact: string | undefined = undefined;

  constructor(
    value: unknown,
    /** The exact text of a `json` value; absent for `jsonb`. */ readonly text?: string,
  ) {
    this.parsed = value;
  }

  /** A large value as it was stored, which is parsed when somebody asks for it. `keepsText`: of type `json`. */
  static stored(text: string, keepsText: boolean): Json {
    const json = new Json(undefined, keepsText ? text : undefined);
    if (!keepsText) json.compact = text;
    json.isParsed = false;
    return json;
  }

  /**
   * Numbers are `number`, bigint or, where those are not exact, Numeric. Throws 22P02 where the stored text is damaged.
   */
  get value(): unknown {
    return this.isParsed ? this.parsed : this.take((this.text === undefined ? parseJson : checkJson)(this.unparsed!));
  }

  /** The text of a value that nobody has parsed yet. */
  get unparsed(): string | undefined {
    return this.isParsed ? undefined : (this.text ?? this.compact);
  }

  /** The value of `unparsed`, which the caller has parsed. */
  take(value: unknown): unknown {
    this.parsed = value;
    this.isParsed = true;
    return value;
  }

  toJSON(): unknown {
    return this.value;
  }
}

/** A PostgreSQL array: elements in row-major order, a length and a lower bound per dimension (none when empty). */
export interface SqlArray {
  readonly elements: readonly Value[];
  readonly dimensions: readonly number[];
  readonly lowerBounds: readonly number[];
}

export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | Float32Array
  | Numeric
  | Json
  | JsonPath
  | Interval
  | TimeTz
  | SqlArray
  | readonly Value[]
  | Variant;

const interned = new Map<string, SqlType>();

function intern(name: TypeName, modifier: number | null, element: SqlType | null): SqlType {
  if (element !== null && hasUserType(element)) return arrayOfUserType(element);
  const key = element === null ? `${name}/${modifier}` : `${name}/${modifier}/${keyOf(element)}`;
  let type = interned.get(key);
  if (type === undefined) {
    type = Object.freeze({ name, modifier, element });
    interned.set(key, type);
  }
  return type;
}

function keyOf(type: SqlType): string {
  if (type.user !== undefined) return userKey(type.user);
  if (type.fields !== undefined) return recordKey(type.fields, type.typeName);
  const key = `${type.name}/${type.modifier}${type.typeName === undefined ? "" : `/${type.typeName}`}`;
  return type.element === null ? key : `${key}/${keyOf(type.element)}`;
}

function recordKey(fields: readonly RecordField[], typeName: string | undefined): string {
  const members = fields.map(({ name, type }) => `${JSON.stringify(name)} ${keyOf(type)}`);
  return `record/${typeName === undefined ? "" : JSON.stringify(typeName)}(${members.join()})`;
}

/** The type of that name; `modifier` as on SqlType. */
export function typeOf(name: TypeName, modifier: number | null = null): SqlType {
  return intern(name, modifier, null);
}

export function arrayOf(element: SqlType): SqlType {
  return intern("array", null, element);
}

/** numeric(precision, scale); 0 ≤ precision ≤ 1000. */
export function numericType(precision: number, scale: number): SqlType {
  return intern("numeric", precision * 2048 + scale, null);
}

/** Types that statements made, and rows, come and go with tenants' definitions, so they are held weakly. */
const userTypes = new Map<string, WeakRef<SqlType>>();
const forgotten = new FinalizationRegistry<string>((key) => {
  if (userTypes.get(key)?.deref() === undefined) userTypes.delete(key);
});
const userArrays = new WeakMap<SqlType, SqlType>();

const hasUserType = (type: SqlType): boolean =>
  type.user !== undefined || type.fields !== undefined || (type.element !== null && hasUserType(type.element));

function arrayOfUserType(element: SqlType): SqlType {
  let type = userArrays.get(element);
  if (type === undefined) {
    type = Object.freeze({ name: "array", modifier: null, element });
    userArrays.set(element, type);
  }
  return type;
}

/** A type that a statement made; two of equal definitions are the same object. */
export function userType(user: UserType): SqlType {
  return weaklyInterned(userKey(user), () => ({ ...baseOf(user), user: Object.freeze(user) }));
}

/** A record of these fields; `typeName` is that of the table whose rows it holds. Throws 54000. */
export function recordOf(fields: readonly RecordField[], typeName?: string): SqlType {
  const key = recordKey(fields, typeName);
  // Records of records of records: each level may be twice as long.
  if (key.length > RECORD_TYPE_CHARACTERS_MAX) throw sqlError("54000", "row type has too many fields");
  return weaklyInterned(key, () => {
    const named = typeName === undefined ? {} : { typeName };
    return { name: "record", modifier: null, element: null, fields: Object.freeze([...fields]), ...named };
  });
}

/** The name of a composite type or of the table whose rows the record holds; null for a row that no type names. */
export function recordName(type: SqlType): string | null {
  return type.user?.name ?? type.typeName ?? null;
}

function weaklyInterned(key: string, make: () => SqlType): SqlType {
  const known = userTypes.get(key)?.deref();
  if (known !== undefined) return known;
  const type = Object.freeze(make());
  userTypes.set(key, new WeakRef(type));
  forgotten.register(type, key);
  return type;
}

/** The type without its origin, for callers that do not care who made it. */
function baseOf({ kind, base, fields }: UserType): SqlType {
  if (kind === "domain") return base!;
  const name = kind === "composite" ? "record" : kind;
  return { name, modifier: null, element: null, ...(kind === "composite" && { fields }) };
}

function userKey(user: UserType): string {
  const { kind, id, schema, name, labels, fields, base, part, list } = user;
  const parts = fields.map((field) => [field.name, keyOf(field.type), field.slot]);
  return JSON.stringify([
    kind,
    id,
    schema,
    name,
    labels,
    parts,
    base === null ? null : keyOf(base),
    part && keyOf(part),
    list,
  ]);
}

export const UNKNOWN = typeOf("unknown");
export const BOOL = typeOf("bool");
export const INT2 = typeOf("int2");
export const INT4 = typeOf("int4");
export const INT8 = typeOf("int8");
export const OID = typeOf("oid");
export const FLOAT4 = typeOf("float4");
export const FLOAT8 = typeOf("float8");
export const NUMERIC = typeOf("numeric");
export const MONEY = typeOf("money");
export const TEXT = typeOf("text");
export const VARCHAR = typeOf("varchar");
export const BPCHAR = typeOf("bpchar");
export const NAME = typeOf("name");
export const CITEXT = typeOf("citext");
export const HSTORE = typeOf("hstore");
export const LTREE = typeOf("ltree");
export const LQUERY = typeOf("lquery");
export const LTXTQUERY = typeOf("ltxtquery");
export const UUID = typeOf("uuid");
export const BYTEA = typeOf("bytea");
export const DATE = typeOf("date");
export const TIME = typeOf("time");
export const TIMETZ = typeOf("timetz");
export const TIMESTAMP = typeOf("timestamp");
export const TIMESTAMPTZ = typeOf("timestamptz");
export const INTERVAL = typeOf("interval");
export const JSON_TYPE = typeOf("json");
export const JSONB = typeOf("jsonb");
export const JSONPATH = typeOf("jsonpath");
export const VECTOR = typeOf("vector");
export const HALFVEC = typeOf("halfvec");
export const SPARSEVEC = typeOf("sparsevec");
export const BIT = typeOf("bit");
export const VARBIT = typeOf("varbit");
export const INET = typeOf("inet");
export const CIDR = typeOf("cidr");
export const MACADDR = typeOf("macaddr");
export const MACADDR8 = typeOf("macaddr8");
export const CHAR = typeOf("char");
export const INT2VECTOR = typeOf("int2vector");
export const OIDVECTOR = typeOf("oidvector");
export const RANGES = {
  int4range: typeOf("int4range"),
  int8range: typeOf("int8range"),
  numrange: typeOf("numrange"),
  daterange: typeOf("daterange"),
  tsrange: typeOf("tsrange"),
  tstzrange: typeOf("tstzrange"),
} as const;
export const MULTIRANGES = {
  int4multirange: typeOf("int4multirange"),
  int8multirange: typeOf("int8multirange"),
  nummultirange: typeOf("nummultirange"),
  datemultirange: typeOf("datemultirange"),
  tsmultirange: typeOf("tsmultirange"),
  tstzmultirange: typeOf("tstzmultirange"),
} as const;
export const POINT = typeOf("point");
export const LSEG = typeOf("lseg");
export const LINE = typeOf("line");
export const BOX = typeOf("box");
export const PATH = typeOf("path");
export const POLYGON = typeOf("polygon");
export const CIRCLE = typeOf("circle");
export const TSVECTOR = typeOf("tsvector");
export const TSQUERY = typeOf("tsquery");
export const REGCONFIG = typeOf("regconfig");
export const VARIANT = typeOf("variant");
export const RECORD = typeOf("record");
export const VOID = typeOf("void");
