/** acldefault and aclexplode: lists of who may do what, in PostgreSQL's notation `grantee=privileges/grantor`. */
import { parseRelationName } from "../../../catalog/relation-names.js";
import type { ScalarFunction } from "../../../query/expr/expr.js";
import { registerTableFunction } from "../../../query/expr/functions/table-registry.js";
import { quoteIdentifier } from "../../../query/expr/print.js";
import { recordRows, type TableFunction } from "../../../query/expr/table-function.js";
import { sqlArray } from "../../../values/text-format-array.js";
import { arrayOf, BOOL, CHAR, OID, recordOf, type SqlArray, TEXT, type Value } from "../../../values/values.js";
import { systemFunction } from "./define-function.js";
import { OWNER_OID } from "./relation-facts.js";
import { type SystemView, systemView } from "./system-view.js";

/** What the owner of an object may do, and what everybody may, by the kind of object. */
const DEFAULTS: Readonly<Record<string, readonly [owner: string, everybody: string]>> = {
  c: ["", ""],
  r: ["arwdDxt", ""],
  s: ["rwU", ""],
  d: ["CTc", "Tc"],
  f: ["X", "X"],
  l: ["U", "U"],
  L: ["rw", ""],
  n: ["UC", ""],
  t: ["C", ""],
  F: ["U", ""],
  S: ["U", ""],
  T: ["U", "U"],
  p: ["sA", ""],
};

function defaultList(view: SystemView, kind: string): Value {
  const [owner, everybody] = DEFAULTS[kind] ?? ["", ""];
  const name = quoteIdentifier(view.user);
  const items = [
    ...(everybody === "" ? [] : [`=${everybody}/${name}`]),
    ...(owner === "" ? [] : [`${name}=${owner}/${name}`]),
  ];
  return sqlArray(items);
}

export const ACCESS_FUNCTIONS: readonly ScalarFunction[] = [
  systemFunction("acldefault", [CHAR, OID], arrayOf(TEXT), defaultList),
];

const PRIVILEGES: Readonly<Record<string, string>> = {
  a: "INSERT",
  r: "SELECT",
  w: "UPDATE",
  d: "DELETE",
  D: "TRUNCATE",
  x: "REFERENCES",
  t: "TRIGGER",
  X: "EXECUTE",
  U: "USAGE",
  C: "CREATE",
  T: "TEMPORARY",
  c: "CONNECT",
  s: "SET",
  A: "ALTER SYSTEM",
};

function* exploded(view: SystemView, items: SqlArray): Iterable<readonly Value[]> {
  const roleOf = (name: string) => (name !== "" && parseRelationName(name).name === view.user ? OWNER_OID : 0);
  for (const item of items.elements) {
    const found = /^(.*)=([^/=]*)\/(.*)$/.exec(String(item));
    if (found === null) continue;
    for (const [, letter, star] of found[2]!.matchAll(/([a-zA-Z])(\*?)/g)) {
      const privilege = PRIVILEGES[letter!];
      if (privilege !== undefined) yield [roleOf(found[3]!), roleOf(found[1]!), privilege, star !== ""];
    }
  }
}

const ACL_EXPLODE: TableFunction = {
  name: "aclexplode",
  args: [arrayOf(TEXT)],
  strict: true,
  returns: recordOf([
    { name: "grantor", type: OID },
    { name: "grantee", type: OID },
    { name: "privilege_type", type: TEXT },
    { name: "is_grantable", type: BOOL },
  ]),
  open: (context, [items]) => recordRows(exploded(systemView(context), items as SqlArray)),
};

registerTableFunction(Object.freeze(ACL_EXPLODE));
