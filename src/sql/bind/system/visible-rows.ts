/**
 * Which rows of information_schema a role sees: as SQL wants it, those about relations that it owns or may do something
 * with. pg_catalog shows all, as in PostgreSQL.
 */
import type { CatalogView } from "../../../catalog/catalog-view.js";
import type { Rights } from "../../../catalog/rights.js";
import { MEMBER_ROLE, type Privilege } from "../../../catalog/role.js";
import type { Value } from "../../../values/values.js";
import type { Shape } from "./shapes.js";

/** Who looks at which definitions. */
export interface Onlooker {
  readonly catalog: CatalogView;
  readonly rights: Rights;
  readonly user: string;
}

interface Rule {
  /** One of them, on the whole. Empty: only the owner sees it. */
  readonly any: readonly Privilege[];
  /** One of them on a column: on the row's own one if it names one. */
  readonly column: readonly Privilege[];
}

const RELATION: Rule = { any: ["r", "a", "w", "d", "D", "x", "t"], column: ["r", "a", "w", "x"] };
const COLUMN: Rule = { any: [], column: ["r", "a", "w", "x"] };
const CHANGED: Rule = { any: ["a", "w", "d", "D", "x", "t"], column: ["a", "w", "x"] };
const OWNED: Rule = { any: [], column: [] };

const RULES: Readonly<Record<string, Rule>> = {
  tables: RELATION,
  views: RELATION,
  columns: COLUMN,
  key_column_usage: COLUMN,
  table_constraints: CHANGED,
  triggers: CHANGED,
  constraint_column_usage: OWNED,
  constraint_table_usage: OWNED,
  column_udt_usage: OWNED,
  column_domain_usage: OWNED,
  view_table_usage: OWNED,
  view_column_usage: OWNED,
};

/** Of grants: those to and from roles that it has; of role_… those to everybody are left out. */
const GRANTS = /^(role_)?(table_privileges|column_privileges|table_grants|column_grants)$/;

export type Rows = readonly (readonly Value[])[];

export function visibleRows({ name, columns }: Pick<Shape, "name" | "columns">, view: Onlooker, rows: Rows): Rows {
  const { rights, catalog } = view;
  if (!rights.matter || rights.isSuperuser) return rows;
  const placeOf = (column: string) => columns.findIndex((each) => each.name === column);
  if (GRANTS.test(name)) {
    const has = (role: Value) => {
      if (role === "PUBLIC") return !name.startsWith("role_");
      if (role === view.user || role === MEMBER_ROLE.name) return true;
      const known = catalog.role(role as string);
      return known !== null && rights.hasRole(known.id);
    };
    const [grantor, grantee] = [placeOf("grantor"), placeOf("grantee")];
    return rows.filter((row) => has(row[grantor]!) || has(row[grantee]!));
  }
  const rule = RULES[name];
  if (rule === undefined) return rows;
  const prefix = name === "triggers" ? "event_object" : "table";
  const places = [placeOf(`${prefix}_schema`), placeOf(`${prefix}_name`), placeOf("column_name")] as const;
  const seen = new Map<string, boolean>();
  return rows.filter((row) => {
    const [schema, relation, column] = places.map((place) => (place < 0 ? "" : String(row[place]!)));
    const key = `${schema}\0${relation}\0${column}`;
    let isSeen = seen.get(key);
    if (isSeen === undefined) {
      isSeen = sees(rule, schema!, relation!, column!, view, rights);
      seen.set(key, isSeen);
    }
    return isSeen;
  });
}

function sees(rule: Rule, schema: string, name: string, column: string, { catalog }: Onlooker, rights: Rights) {
  const table = catalog.table(schema, name);
  const relation = table ?? catalog.view(schema, name);
  if (relation === null) return true;
  if (column === "") return obeys(rule, rights, relation.id, null);
  const place = relation.columns.findIndex((each) => each.name === column);
  return obeys(rule, rights, relation.id, (table === null ? place : table.columns[place]?.id) ?? place);
}

/** `columnId` null: it is about the relation, or any of its columns. */
function obeys(rule: Rule, rights: Rights, id: number, columnId: number | null): boolean {
  if (rights.mayAlter(id) || rule.any.some((privilege) => rights.may(id, privilege))) return true;
  return rule.column.some((privilege) => {
    const may = rights.columns(id, privilege);
    return may === "all" || (columnId === null ? may.size > 0 : may.has(columnId));
  });
}

/** Whether information_schema.tables has a row for the relation. */
export function listsRelation(rights: Rights, relationId: number): boolean {
  return !rights.matter || rights.isSuperuser || obeys(RELATION, rights, relationId, null);
}

/** Whether information_schema.columns has a row for the column of a table, or for a view's by its place. */
export function listsColumn(rights: Rights, relationId: number, columnId: number): boolean {
  return !rights.matter || rights.isSuperuser || obeys(COLUMN, rights, relationId, columnId);
}
