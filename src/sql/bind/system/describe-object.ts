/** pg_describe_object: what an object is, in words. */

import { BUILT_IN_EXTENSION } from "../../../catalog/extension.js";
import { quoteIdentifier } from "../../../query/expr/print.js";
import { oidOfId } from "../../../query/expr/types.js";
import type { Value } from "../../../values/values.js";
import { catalogIndex, relationOfOid } from "./catalog-index.js";
import { functionText, NAME_OF, relationText, schemaName, typeText } from "./object-names.js";
import { BUILT_IN_EXTENSION_OID } from "./pg-server.js";
import { columnNumbered, hashedOid, LANGUAGE_OIDS, typeOid } from "./relation-facts.js";
import { shapeOfOid } from "./shapes.js";
import type { SystemView } from "./system-view.js";

const KINDS: Readonly<Record<string, string>> = {
  r: "table",
  p: "table",
  v: "view",
  m: "materialized view",
  S: "sequence",
  i: "index",
  I: "index",
  c: "composite type",
};

function describeRelation(view: SystemView, oid: number, column: number): string | null {
  const relation = relationOfOid(oid, view);
  if (relation === null) return null;
  const text = `${KINDS[relation.kind]} ${relationText(view, oid)}`;
  if (column === 0) return text;
  const { tables, views } = catalogIndex(view.catalog);
  const table = tables.get(oid);
  const found =
    table === undefined ? (views.get(oid) ?? shapeOfOid(oid))?.columns[column - 1] : columnNumbered(table, column);
  const name = found?.name;
  return name === undefined ? null : `column ${quoteIdentifier(name)} of ${text}`;
}

/** By the relation that lists the object. Null: there is no such object. */
const DESCRIBE: Readonly<Record<string, (view: SystemView, oid: number, part: number) => string | null>> = {
  pg_class: describeRelation,
  pg_proc: (view, oid) => `function ${functionText(view, oid, true)}`,
  pg_type: (view, oid) => `type ${typeText(view, oid, null)}`,
  pg_operator: (view, oid) => `operator ${NAME_OF.regoperator(view, oid)}`,
  pg_cast: (view, oid) => {
    const cast = view.catalog.casts().find(({ id }) => oidOfId(id) === oid);
    if (cast === undefined) return null;
    const [source, target] = [cast.source, cast.target].map((type) => typeText(view, typeOid(type), null));
    return `cast from ${source} to ${target}`;
  },
  pg_namespace: (view, oid) => {
    const name = schemaName(view, oid);
    return name === null ? null : `schema ${quoteIdentifier(name)}`;
  },
  pg_constraint: (view, oid) => {
    const found = catalogIndex(view.catalog).constraints.get(oid);
    if (found === undefined) return null;
    return `constraint ${quoteIdentifier(found.name)} on table ${relationText(view, oidOfId(found.table.id))}`;
  },
  pg_trigger: (view, oid) => {
    for (const owner of [...view.catalog.tables(), ...view.catalog.views()]) {
      const trigger = owner.triggers?.find(({ id }) => oidOfId(id) === oid);
      if (trigger === undefined) continue;
      return `trigger ${quoteIdentifier(trigger.name)} on table ${relationText(view, oidOfId(owner.id))}`;
    }
    return null;
  },
  pg_language: (_view, oid) => {
    const found = Object.entries(LANGUAGE_OIDS).find(([, own]) => own === oid);
    return found === undefined ? null : `language ${found[0]}`;
  },
  pg_extension: ({ catalog }, oid) => {
    if (oid === BUILT_IN_EXTENSION_OID) return `extension ${BUILT_IN_EXTENSION}`;
    const found = catalog.extensions().find(({ id }) => oidOfId(id) === oid);
    return found === undefined ? null : `extension ${quoteIdentifier(found.name)}`;
  },
  pg_attrdef: (view, oid) => {
    for (const table of view.catalog.tables()) {
      const column = table.columns.find(({ id }) => hashedOid("default", table.id, id) === oid);
      if (column === undefined) continue;
      return `default value for column ${quoteIdentifier(column.name)} of table ${relationText(view, oidOfId(table.id))}`;
    }
    return null;
  },
};

export function describeObject(view: SystemView, relation: number, oid: number, part: number): Value {
  if (oid === 0) return null;
  const name = shapeOfOid(relation)?.name ?? "";
  return DESCRIBE[name]?.(view, oid, part) ?? null;
}
