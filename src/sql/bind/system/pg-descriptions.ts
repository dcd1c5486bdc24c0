/** pg_description, pg_depend and pg_rewrite: what COMMENT ON wrote, what belongs to what, and the queries of views. */
import type { CatalogView } from "../../../catalog/catalog-view.js";
import { keptBody } from "../../../catalog/function.js";
import { functionsOf, type ViewQuery } from "../../../catalog/kept-query.js";
import { referencesIn } from "../../../catalog/object-reference.js";
import { computesOf, typesOf } from "../../../catalog/operator.js";
import { parseRelationName } from "../../../catalog/relation-names.js";
import { oidOfId } from "../../../query/expr/types.js";
import { builtInDescriptions } from "./built-in-descriptions.js";
import { catalogIndex, domainCheckOid } from "./catalog-index.js";
import { shownNames } from "./object-names.js";
import {
  attnum,
  constraintsOf,
  hashedOid,
  indexesOf,
  PUBLIC_OID,
  STATES_OF_RULES,
  schemaOid,
} from "./relation-facts.js";
import { systemShapes } from "./shapes.js";
import { type DefinedView, definedRelation, type SystemRow } from "./system-view.js";

/** The OID of one of pg_catalog's relations, which says of what kind an object is. */
export const classOid = (relation: string): number => systemShapes().get(`pg_catalog.${relation}`)!.oid;

export interface Description {
  readonly objoid: number;
  /** The relation that lists the object. */
  readonly relation: string;
  /** Of a column: its number. */
  readonly objsubid: number;
  readonly description: string;
}

const kept = new WeakMap<CatalogView, readonly Description[]>();

export function descriptions(catalog: CatalogView): readonly Description[] {
  const known = kept.get(catalog);
  if (known !== undefined) return known;
  const builtIn = catalog.droppedPublic ? BUILT_IN.filter(({ objoid }) => objoid !== PUBLIC_OID) : BUILT_IN;
  const made = [...builtIn, ...describe(catalog)];
  kept.set(catalog, made);
  return made;
}

function* describe(catalog: CatalogView): Iterable<Description> {
  const of = (relation: string, objoid: number, description: string | undefined, objsubid = 0): Description[] =>
    description === undefined ? [] : [{ objoid, relation, objsubid, description }];
  for (const table of catalog.tables()) {
    const { comments = {}, extendedStatistics = [] } = table;
    const oid = oidOfId(table.id);
    yield* of("pg_class", oid, comments.table);
    for (const { id } of table.columns) yield* of("pg_class", oid, comments[`column ${id}`], attnum(table, id));
    for (const { id } of [...table.indexes, ...(table.searchIndexes ?? [])]) {
      yield* of("pg_class", oidOfId(id), comments[`index ${id}`]);
    }
    yield* of("pg_class", oidOfId(table.id, 1), comments["index primary key"]);
    for (const { name, oid } of constraintsOf(table, catalog)) {
      yield* of("pg_constraint", oid, comments[`constraint ${name}`]);
    }
    for (const { id } of table.triggers ?? []) yield* of("pg_trigger", oidOfId(id), comments[`trigger ${id}`]);
    for (const { id, comment } of extendedStatistics) yield* of("pg_statistic_ext", oidOfId(id), comment);
  }
  for (const { id, comment } of catalog.functions()) yield* of("pg_proc", oidOfId(id), comment);
  for (const { id, comment } of catalog.operators()) yield* of("pg_operator", oidOfId(id), comment);
  for (const { id, comment } of catalog.casts()) yield* of("pg_cast", oidOfId(id), comment);
  for (const { id, comment, columns } of catalog.views()) {
    yield* of("pg_class", oidOfId(id), comment);
    for (const [i, column] of columns.entries()) yield* of("pg_class", oidOfId(id), column.comment, i + 1);
  }
  for (const { id, comment } of catalog.sequences()) yield* of("pg_class", oidOfId(id), comment);
  for (const type of catalog.types()) {
    yield* of("pg_type", oidOfId(type.id), type.comment);
    if (type.kind !== "domain") continue;
    for (const { name, comment } of type.checks) yield* of("pg_constraint", domainCheckOid(type.id, name), comment);
  }
  for (const { id, comment } of catalog.schemas()) yield* of("pg_namespace", oidOfId(id), comment);
}

const BUILT_IN: readonly Description[] = builtInDescriptions().map(([relation, objoid, description]) => ({
  relation,
  objoid,
  objsubid: 0,
  description,
}));

const pgDescription = definedRelation("pg_catalog", "pg_description", ({ catalog }) =>
  descriptions(catalog).map(({ objoid, relation, objsubid, description }) => ({
    objoid,
    classoid: classOid(relation),
    objsubid,
    description,
  })),
);

const pgDepend = definedRelation("pg_catalog", "pg_depend", function* (view) {
  const at = (relation: string, objid: number, objsubid = 0): SystemRow => ({
    classid: classOid(relation),
    objid,
    objsubid,
  });
  for (const [from, to, deptype] of dependencies(view, at)) {
    yield { ...from, refclassid: to.classid!, refobjid: to.objid!, refobjsubid: to.objsubid!, deptype };
  }
});

type At = (relation: string, objid: number, objsubid?: number) => SystemRow;

/** `a`: goes with the other object; `i`: is a part of it; `n`: keeps it from being dropped. */
function* dependencies(view: DefinedView, at: At): Iterable<readonly [SystemRow, SystemRow, string]> {
  const { catalog } = view;
  for (const { oid, schema, kind } of catalogIndex(catalog).relations.values()) {
    const isPart = kind === "i" || kind === "I" || kind === "c";
    if (!isPart) yield [at("pg_class", oid), at("pg_namespace", schemaOid(schema, view)), "n"];
  }
  for (const table of catalog.tables()) {
    const oid = oidOfId(table.id);
    const constraints = constraintsOf(table, catalog);
    for (const { oid: own, columnIds, index, type, references } of constraints) {
      const columns = columnIds.length === 0 ? [0] : columnIds.map((id) => attnum(table, id));
      for (const column of columns) yield [at("pg_constraint", own), at("pg_class", oid, column), "a"];
      if (index !== 0 && type !== "f") yield [at("pg_class", index), at("pg_constraint", own), "i"];
      if (type !== "f") continue;
      if (index !== 0) yield [at("pg_constraint", own), at("pg_class", index), "n"];
      const { table: target, columnIds: referred } = references!;
      for (const id of referred) {
        yield [at("pg_constraint", own), at("pg_class", oidOfId(target.id), attnum(target, id)), "n"];
      }
    }
    for (const { oid: index, columnIds } of indexesOf(table)) {
      if (constraints.some((constraint) => constraint.index === index)) continue;
      for (const id of columnIds)
        yield [at("pg_class", index), at("pg_class", oid, Math.max(0, attnum(table, id))), "a"];
    }
    for (const { id, defaultSql, generatedSql, identity } of table.columns) {
      const hasDefault = generatedSql || (defaultSql !== null && identity === null);
      if (!hasDefault) continue;
      const own = at("pg_attrdef", hashedOid("default", table.id, id));
      yield* textDependencies(generatedSql || defaultSql, own, view, at);
      yield [own, at("pg_class", oid, attnum(table, id)), "a"];
      for (const sequence of sequencesIn(defaultSql ?? "", catalog)) yield [own, at("pg_class", sequence), "n"];
    }
    for (const parent of table.parents ?? []) {
      const how = table.partitionBound === undefined ? "n" : "a";
      yield [at("pg_class", oid), at("pg_class", oidOfId(parent)), how];
    }
    for (const { id } of table.triggers ?? []) yield [at("pg_trigger", oidOfId(id)), at("pg_class", oid), "a"];
  }
  yield* otherDependencies(view, at);
}

/** OIDs of the sequences that a DEFAULT takes values from. */
function sequencesIn(sql: string, catalog: CatalogView): number[] {
  return [...sql.matchAll(/\bnextval\('((?:[^']|'')*)'/g)].flatMap(([, text]) => {
    const { schema, name } = parseRelationName(text!.replaceAll("''", "'"));
    const sequence = catalog.sequence(schema, name);
    return sequence === null ? [] : [oidOfId(sequence.id)];
  });
}

function* otherDependencies(view: DefinedView, at: At): Iterable<readonly [SystemRow, SystemRow, string]> {
  const { catalog } = view;
  for (const { id, ownedBy } of catalog.sequences()) {
    const table = ownedBy === null ? null : catalog.tableById(ownedBy.tableId);
    const column = table?.columns.find((other) => other.id === ownedBy?.columnId);
    if (!table || column === undefined) continue;
    const of = at("pg_class", oidOfId(table.id), attnum(table, column.id));
    yield [at("pg_class", oidOfId(id)), of, column.identity === null ? "a" : "i"];
  }
  for (const { id, query, rules = [] } of catalog.views()) {
    const rule = at("pg_rewrite", viewRuleOid(id));
    yield [rule, at("pg_class", oidOfId(id)), "i"];
    yield* queryDependencies(query, rule, view, at);
    for (const { id: own } of rules) yield [at("pg_rewrite", oidOfId(own)), at("pg_class", oidOfId(id)), "a"];
  }
  for (const { id, materialized } of catalog.tables()) {
    if (!materialized) continue;
    const rule = at("pg_rewrite", viewRuleOid(id));
    yield [rule, at("pg_class", oidOfId(id)), "i"];
    yield* queryDependencies(materialized.query, rule, view, at);
  }
  for (const fn of catalog.functions()) {
    const own = at("pg_proc", oidOfId(fn.id));
    yield [own, at("pg_namespace", schemaOid(fn.schema, view)), "n"];
    for (const { defaultSql } of fn.parameters) yield* textDependencies(defaultSql, own, view, at);
    const kept = keptBody(fn);
    if (kept !== null) yield* queryDependencies(kept, own, view, at);
  }
  for (const definition of [...catalog.operators(), ...catalog.casts()]) {
    const own = at("source" in definition ? "pg_cast" : "pg_operator", oidOfId(definition.id));
    if ("schema" in definition) yield [own, at("pg_namespace", schemaOid(definition.schema, view)), "n"];
    const computes = computesOf(definition);
    if (computes !== null && "id" in computes) yield [own, at("pg_proc", oidOfId(computes.id)), "n"];
    for (const { user } of typesOf(definition))
      if (user !== undefined) yield [own, at("pg_type", oidOfId(user.id)), "n"];
  }
  for (const type of catalog.types()) {
    const own = at("pg_type", oidOfId(type.id));
    yield [own, at("pg_namespace", schemaOid(type.schema, view)), "n"];
    if (type.kind !== "domain") continue;
    yield* textDependencies(type.defaultSql, own, view, at);
    for (const { name, sql } of type.checks) {
      const check = at("pg_constraint", domainCheckOid(type.id, name));
      yield [check, own, "a"];
      yield* textDependencies(sql, check, view, at);
    }
  }
}

/** The relation that lists what a text names. */
function relationOf(id: number, catalog: CatalogView): string {
  if (catalog.functionById(id) !== null) return "pg_proc";
  return catalog.operatorById(id) === null ? "pg_type" : "pg_operator";
}

/** What an expression names. */
function* textDependencies(
  sql: string | null | undefined,
  own: SystemRow,
  { catalog }: DefinedView,
  at: At,
): Iterable<readonly [SystemRow, SystemRow, string]> {
  if (!sql) return;
  for (const id of new Set(referencesIn(sql))) {
    yield [own, at(relationOf(id, catalog), oidOfId(id)), "n"];
  }
  for (const [, oid] of sql.matchAll(/\('(\d+)'\)::regclass/g)) yield [own, at("pg_class", Number(oid)), "n"];
}

function* queryDependencies(
  query: ViewQuery,
  rule: SystemRow,
  { catalog }: DefinedView,
  at: At,
): Iterable<readonly [SystemRow, SystemRow, string]> {
  for (const id of new Set(functionsOf(query))) {
    yield [rule, at(relationOf(id, catalog), oidOfId(id)), "n"];
  }
  for (const { kind, id, columns } of query.relations) {
    const table = kind === "table" ? catalog.tableById(id) : null;
    const numbers = columns
      .filter(({ used }) => used)
      .map((column) => (table ? attnum(table, column.id) : column.id + 1));
    for (const number of numbers.length === 0 ? [0] : numbers) {
      yield [rule, at("pg_class", oidOfId(id), Math.max(0, number)), "n"];
    }
  }
}

/** The OID of the rule that makes a relation a view. */
export const viewRuleOid = (id: number) => hashedOid("view rule", id);

const EVENTS = { select: "1", update: "2", insert: "3", delete: "4", truncate: "5" } as const;

const pgRewrite = definedRelation("pg_catalog", "pg_rewrite", function* (view) {
  const { catalog } = view;
  const shared = { ev_enabled: "O", is_instead: true, ev_qual: "<>" };
  const viewRule = { rulename: "_RETURN", ev_type: "1" };
  for (const { id, query } of catalog.views()) {
    yield {
      ...shared,
      ...viewRule,
      oid: viewRuleOid(id),
      ev_class: oidOfId(id),
      ev_action: shownNames(view, query.sql),
    };
  }
  for (const { id, materialized } of catalog.tables()) {
    if (!materialized) continue;
    const ev_action = shownNames(view, materialized.query.sql);
    yield { ...shared, ...viewRule, oid: viewRuleOid(id), ev_class: oidOfId(id), ev_action };
  }
  for (const owner of [...catalog.tables(), ...catalog.views()]) {
    for (const { id, name, events, calls, enabled } of owner.rules ?? []) {
      yield {
        ...shared,
        oid: oidOfId(id),
        rulename: name,
        ev_class: oidOfId(owner.id),
        ev_type: EVENTS[events[0]!],
        ev_enabled: STATES_OF_RULES[enabled],
        is_instead: typeof calls !== "object" || /\bdo\s+instead\b/i.test(calls.sql),
        ev_action: typeof calls === "object" ? shownNames(view, calls.sql) : "",
      };
    }
  }
});

export const PG_DESCRIPTIONS = [pgDescription, pgDepend, pgRewrite];
