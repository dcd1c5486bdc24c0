/** pg_operator and the families of operators that indexes use: what of PostgreSQL's exists here. */
import { OPERATOR_FAMILIES, OPERATORS } from "../../../query/expr/functions/registry.js";
import type { SqlType } from "../../../values/values.js";
import { knownTypeOids } from "./builtin-types.js";
import { CLASS_FACTS, FAMILY_FACTS, FAMILY_FUNCTIONS, FAMILY_OPERATORS, OPERATOR_FACTS } from "./data/operators.js";
import { madeOperatorRows } from "./made-operators.js";
import { BTREE_OID, HASH_OID, OWNER_OID, PG_CATALOG_OID, typeOid } from "./relation-facts.js";
import { recordsOf } from "./shapes.js";
import { definedRelation, type SystemRow } from "./system-view.js";

const none = () => [];

function* numberedRows(data: string, columns: readonly string[], texts: readonly string[]): Iterable<SystemRow> {
  for (const record of recordsOf(data)) {
    const cells = record.split(",");
    yield Object.fromEntries(columns.map((name, i) => [name, texts.includes(name) ? cells[i]! : Number(cells[i])]));
  }
}

const isKnownType = (oid: unknown) => oid === 0 || knownTypeOids().has(oid as number);

const OPERATOR_COLUMNS =
  "oid oprname oprkind oprcanmerge oprcanhash oprleft oprright oprresult oprcom oprnegate oprcode oprrest oprjoin".split(
    " ",
  );

export function* operatorRows(): Iterable<SystemRow> {
  for (const row of numberedRows(OPERATOR_FACTS, OPERATOR_COLUMNS, ["oprname", "oprkind"])) {
    const { oprname, oprleft, oprright, oprcanmerge, oprcanhash } = row;
    const exists = OPERATORS.has(oprname as string) || OPERATOR_FAMILIES.has(oprname as string);
    if (!exists || !isKnownType(oprleft) || !isKnownType(oprright)) continue;
    const flags = { oprcanmerge: oprcanmerge === 1, oprcanhash: oprcanhash === 1 };
    yield { ...row, ...flags, oprnamespace: PG_CATALOG_OID, oprowner: OWNER_OID };
  }
}

const pgOperator = definedRelation("pg_catalog", "pg_operator", madeOperatorRows, operatorRows);

/** Access methods that indexes can be declared with, and hash, whose families say how values are compared. */
const METHODS = new Set([403, 405, 783, 2742, 3580, 4000]);

const pgOpfamily = definedRelation("pg_catalog", "pg_opfamily", none, function* () {
  for (const row of numberedRows(FAMILY_FACTS, ["oid", "opfmethod", "opfname"], ["opfname"])) {
    if (!METHODS.has(row.opfmethod as number) || !knownFamilies().has(row.oid as number)) continue;
    yield { ...row, opfnamespace: PG_CATALOG_OID, opfowner: OWNER_OID };
  }
});

const CLASS_COLUMNS = "oid opcmethod opcname opcfamily opcintype opcdefault opckeytype".split(" ");

function* classRows(): Iterable<SystemRow> {
  for (const row of numberedRows(CLASS_FACTS, CLASS_COLUMNS, ["opcname"])) {
    if (!METHODS.has(row.opcmethod as number) || !isKnownType(row.opcintype)) continue;
    yield { ...row, opcdefault: row.opcdefault === 1, opcnamespace: PG_CATALOG_OID, opcowner: OWNER_OID };
  }
}

const pgOpclass = definedRelation("pg_catalog", "pg_opclass", none, classRows);

let families: ReadonlySet<number> | null = null;

function knownFamilies(): ReadonlySet<number> {
  families ??= new Set(Array.from(classRows(), ({ opcfamily }) => opcfamily as number));
  return families;
}

/** varchar and cidr have the classes of text and inet. */
const WITH_CLASSES_OF: Readonly<Record<number, number>> = { 1043: 25, 650: 869 };

let defaults: ReadonlyMap<string, number> | null = null;

/** The OID of the class that an index over the type uses by default; 0: there is none. */
export function operatorClassOf(type: number, method = BTREE_OID): number {
  defaults ??= new Map(
    Array.from(classRows(), (row) => [`${row.opcmethod} ${row.opcintype} ${row.opcdefault}`, row.oid as number]),
  );
  return defaults.get(`${method} ${WITH_CLASSES_OF[type] ?? type} true`) ?? 0;
}

function classRow(name: string, method: number): SystemRow | null {
  for (const row of classRows()) if (row.opcname === name && row.opcmethod === method) return row;
  return null;
}

/** 0: the access method has no such class. */
export function namedClass(name: string, method: number): number {
  return (classRow(name, method)?.oid as number | undefined) ?? 0;
}

const ARRAYS = 2277;
const ENUMS = 3500;
const RECORDS = 2249;
const ANY_RANGES = { range: 3831, multirange: 4537 };
const POLYMORPHIC: ReadonlySet<unknown> = new Set([ARRAYS, ENUMS, RECORDS, ...Object.values(ANY_RANGES)]);

/** Of the type, also of one that statements made. */
export function classOf(type: SqlType, method: number): number {
  if (type.user?.kind === "domain") return classOf(type.user.base!, method);
  if (type.user?.kind === "enum") return operatorClassOf(ENUMS, method);
  if (type.name === "range" || type.name === "multirange") return operatorClassOf(ANY_RANGES[type.name], method);
  if (type.element !== null) return operatorClassOf(ARRAYS, method);
  return operatorClassOf(type.fields === undefined ? typeOid(type) : RECORDS, method);
}

/** Whether the class is the one that an index over the type has anyway, another one for it, or none for it. */
export function classFor(
  name: string,
  type: SqlType,
  method: "btree" | "hash",
): "own" | "other" | "of other types" | "none" {
  const number = method === "btree" ? BTREE_OID : HASH_OID;
  const row = classRow(name, number);
  if (row === null) return "none";
  const oid = typeOid(type);
  const taken = WITH_CLASSES_OF[oid] ?? oid;
  if (row.oid === classOf(type, number)) return "own";
  return row.opcintype === taken || POLYMORPHIC.has(row.opcintype) ? "other" : "of other types";
}

/** The name of the class that a B-tree over the type uses by default; null: there is none. */
export function defaultClassName(type: number): string | null {
  const oid = operatorClassOf(type);
  for (const row of classRows()) if (row.oid === oid) return row.opcname as string;
  return null;
}

const AMOP_COLUMNS =
  "oid amopfamily amoplefttype amoprighttype amopstrategy amoppurpose amopopr amopmethod amopsortfamily".split(" ");

const pgAmop = definedRelation("pg_catalog", "pg_amop", none, function* () {
  for (const row of numberedRows(FAMILY_OPERATORS, AMOP_COLUMNS, ["amoppurpose"])) {
    if (
      knownFamilies().has(row.amopfamily as number) &&
      isKnownType(row.amoplefttype) &&
      isKnownType(row.amoprighttype)
    )
      yield row;
  }
});

const AMPROC_COLUMNS = "oid amprocfamily amproclefttype amprocrighttype amprocnum amproc".split(" ");

export function* familyFunctionRows(): Iterable<SystemRow> {
  for (const row of numberedRows(FAMILY_FUNCTIONS, AMPROC_COLUMNS, [])) {
    if (knownFamilies().has(row.amprocfamily as number) && isKnownType(row.amproclefttype)) yield row;
  }
}

const pgAmproc = definedRelation("pg_catalog", "pg_amproc", none, familyFunctionRows);

export const BUILT_IN_OPERATORS = [pgOperator, pgOpfamily, pgOpclass, pgAmop, pgAmproc];
