import { PUBLIC_SCHEMA_ID } from "../../../catalog/role.js";
import { oidOfId } from "../../../query/expr/types.js";
import { catalogVector } from "../../../values/catalog-types.js";
import { sqlArray } from "../../../values/text-format-array.js";
import { domainCheckOid } from "./catalog-index.js";
import { defaultText } from "./expression-text.js";
import {
  attnum,
  constraintsOf,
  DATABASE_OWNER_OID,
  hashedOid,
  INFORMATION_SCHEMA_OID,
  indexesOf,
  OWNER_OID,
  PG_CATALOG_OID,
  PUBLIC_ACCESS,
  PUBLIC_OID,
  schemaOid,
  temporarySchemas,
} from "./relation-facts.js";
import { ownership } from "./role-facts.js";
import { definedRelation } from "./system-view.js";

const owner = OWNER_OID;

const pgNamespace = definedRelation("pg_catalog", "pg_namespace", (view) => {
  const owned = (id: number) => {
    const { owner: nspowner, acl: nspacl } = ownership(view, id);
    return { nspowner, nspacl };
  };
  const ofPublic =
    view.catalog.accessTo(PUBLIC_SCHEMA_ID) === null
      ? { nspowner: DATABASE_OWNER_OID, nspacl: sqlArray(PUBLIC_ACCESS) }
      : owned(PUBLIC_SCHEMA_ID);
  return [
    { oid: PG_CATALOG_OID, nspname: "pg_catalog", nspowner: owner },
    ...(view.catalog.droppedPublic ? [] : [{ oid: PUBLIC_OID, nspname: "public", ...ofPublic }]),
    { oid: INFORMATION_SCHEMA_OID, nspname: "information_schema", nspowner: owner },
    ...view.catalog.schemas().map(({ id, name }) => ({ oid: oidOfId(id), nspname: name, ...owned(id) })),
    ...[...temporarySchemas(view)].map((name) => ({ oid: schemaOid(name, view), nspname: name, nspowner: owner })),
  ];
});

const pgAttrdef = definedRelation("pg_catalog", "pg_attrdef", function* ({ catalog }) {
  for (const table of catalog.tables()) {
    for (const { defaultSql, generatedSql, identity, id, type } of table.columns) {
      const own = identity === null && defaultSql !== null ? defaultText(defaultSql, type) : null;
      const adbin = generatedSql ?? own;
      if (adbin === null) continue;
      yield { oid: hashedOid("default", table.id, id), adrelid: oidOfId(table.id), adnum: attnum(table, id), adbin };
    }
  }
});

const ACTIONS = { "no action": "a", restrict: "r", cascade: "c", "set null": "n", "set default": "d" } as const;

const pgConstraint = definedRelation("pg_catalog", "pg_constraint", function* (view) {
  const shared = {
    condeferrable: false,
    condeferred: false,
    convalidated: true,
    contypid: 0,
    conparentid: 0,
    confrelid: 0,
    confupdtype: " ",
    confdeltype: " ",
    confmatchtype: " ",
    conislocal: true,
    coninhcount: 0,
    connoinherit: true,
  };
  for (const table of view.catalog.tables()) {
    for (const constraint of constraintsOf(table, view.catalog)) {
      const { oid, name, type, columnIds, index, check, references, deferrable } = constraint;
      yield {
        ...shared,
        condeferrable: deferrable !== undefined,
        condeferred: deferrable?.initiallyDeferred ?? false,
        oid,
        conname: name,
        connamespace: schemaOid(table.schema, view),
        contype: type,
        conrelid: oidOfId(table.id),
        conindid: index,
        conkey: sqlArray(columnIds.map((id) => attnum(table, id))),
        conbin: check?.sql ?? null,
        ...(check !== null && {
          convalidated: !check.notValid,
          conislocal: check.local ?? true,
          coninhcount: check.inherited ?? 0,
          connoinherit: check.noInherit ?? false,
        }),
        ...(references !== null && {
          confrelid: oidOfId(references.table.id),
          confkey: sqlArray(references.columnIds.map((id) => attnum(references.table, id))),
          confupdtype: ACTIONS[references.key.onUpdate],
          confdeltype: ACTIONS[references.key.onDelete],
          confmatchtype: references.key.match === "full" ? "f" : "s",
          condeferrable: references.key.deferrable,
          condeferred: references.key.initiallyDeferred,
          convalidated: !references.key.notValid,
          // That of the partitioned table, which partitions share.
          ...(references.key.parentId !== undefined && {
            conparentid: oidOfId(references.key.parentId),
            conislocal: false,
            coninhcount: 1,
          }),
        }),
      };
    }
  }
  for (const type of view.catalog.types()) {
    if (type.kind !== "domain") continue;
    for (const { name, sql } of type.checks) {
      const oid = domainCheckOid(type.id, name);
      const place = {
        connamespace: schemaOid(type.schema, view),
        conrelid: 0,
        contypid: oidOfId(type.id),
        conindid: 0,
      };
      yield { ...shared, ...place, oid, conname: name, contype: "c", conbin: sql };
    }
  }
});

const pgInherits = definedRelation("pg_catalog", "pg_inherits", function* ({ catalog }) {
  for (const { id, parents = [] } of catalog.tables()) {
    for (const [i, parent] of parents.entries()) {
      yield { inhrelid: oidOfId(id), inhparent: oidOfId(parent), inhseqno: i + 1, inhdetachpending: false };
    }
  }
  for (const table of catalog.tables()) {
    for (const { oid, parent } of indexesOf(table)) {
      if (parent !== null) yield { inhrelid: oid, inhparent: parent, inhseqno: 1, inhdetachpending: false };
    }
  }
});

const pgPartitionedTable = definedRelation("pg_catalog", "pg_partitioned_table", function* ({ catalog }) {
  for (const table of catalog.tables()) {
    const { partitionKey, children = [] } = table;
    if (partitionKey === undefined) continue;
    const { keys, strategy } = partitionKey;
    const fallback = children.find((id) => catalog.tableById(id)!.partitionBound?.kind === "default");
    const expressions = keys.flatMap(({ expression }) => expression?.sql ?? []);
    yield {
      partrelid: oidOfId(table.id),
      partstrat: strategy[0]!,
      partnatts: keys.length,
      partdefid: fallback === undefined ? 0 : oidOfId(fallback),
      partattrs: catalogVector(keys.map(({ columnId }) => attnum(table, columnId))),
      partclass: catalogVector(keys.map(() => 0)),
      partcollation: catalogVector(keys.map(() => 0)),
      partexprs: expressions.length === 0 ? null : expressions.join(", "),
    };
  }
});

const pgStatisticExt = definedRelation("pg_catalog", "pg_statistic_ext", function* (view) {
  const letters = { ndistinct: "d", dependencies: "f", mcv: "m" } as const;
  for (const table of view.catalog.tables()) {
    for (const { id, schema, name, kinds, keys } of table.extendedStatistics ?? []) {
      const exprs = keys.flatMap(({ sql }) => (sql === undefined ? [] : [sql]));
      const own = keys.flatMap(({ columnId }) => (columnId === undefined ? [] : [attnum(table, columnId)]));
      yield {
        oid: oidOfId(id),
        stxrelid: oidOfId(table.id),
        stxname: name,
        stxnamespace: schemaOid(schema, view),
        stxowner: owner,
        stxstattarget: -1,
        stxkeys: catalogVector(own),
        stxkind: sqlArray([...kinds.map((kind) => letters[kind]), ...(exprs.length > 0 ? ["e"] : [])]),
        stxexprs: exprs.length === 0 ? null : exprs.join(", "),
      };
    }
  }
});

export const PG_RELATIONS = [pgStatisticExt, pgInherits, pgPartitionedTable, pgNamespace, pgAttrdef, pgConstraint];
