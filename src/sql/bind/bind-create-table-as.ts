/** CREATE TABLE AS, SELECT INTO, and materialized views: a table that a query fills. */

import type { NewColumn } from "../../catalog/new-column.js";
import { actingAsRole, rightsOf } from "../../catalog/rights.js";
import { MEMBER_ROLE } from "../../catalog/role.js";
import type { ViewColumn } from "../../catalog/view.js";
import { sqlError } from "../../protocol/errors.js";
import { emptyOf } from "../../query/plan/empty-plan.js";
import type { CreateTableAsExecuteStatement, RefreshStatement } from "../parse/ast.js";
import type { CreateTableAsStatement } from "../parse/ast-definitions.js";
import { bindStoredQuery, namedColumns, type StoredQuery } from "./bind-create-view.js";
import { lookUpTable } from "./bind-from.js";
import { checkStorable } from "./bind-type.js";
import { bindViewQuery } from "./bind-view.js";
import { type Binding, PLAIN_QUERY, type Source } from "./binding.js";
import type { BindEnvironment, BoundDdl, BoundFill } from "./bound-statement.js";
import { newName } from "./names.js";
import { checkedRights, refuseDenied } from "./relation-rights.js";
import { settleParameters } from "./settle-parameters.js";
import { storageOfNew } from "./storage-parameters.js";

export function bindCreateTableAs(node: CreateTableAsStatement, binding: Binding): BoundDdl {
  if (node.materializedView) {
    const stored = bindStoredQuery(node, "MATERIALIZED VIEW", binding);
    return filled(node, stored, stored, binding.env);
  }
  const bound = filled(node, bindFilling(node, binding), null, binding.env);
  const parameterTypes = binding.parameterTypes();
  return parameterTypes.length === 0 ? bound : { ...bound, parameterTypes, openParameters: [...binding.open] };
}

export function bindCreateTableAsExecute(node: CreateTableAsExecuteStatement): BoundFill {
  const { name, args } = node.execute;
  return {
    kind: "create table as execute",
    execute: { kind: "execute", name, args },
    fill: (query, parameters, env) => {
      if (query.command !== "select") {
        throw sqlError("42809", "prepared statement is not a SELECT", { position: node.position });
      }
      const columns = namedColumns(node.columns, query.columns, "TABLE AS", node.position);
      return { ...filled(node, { plan: query.plan, columns }, null, env), parameters };
    },
  };
}

function filled(
  node: CreateTableAsStatement | CreateTableAsExecuteStatement,
  { plan, columns }: Pick<StoredQuery, "plan" | "columns">,
  stored: StoredQuery | null,
  env: BindEnvironment,
): BoundDdl {
  const { position, ifNotExists } = node;
  if (node.onCommit !== "preserve" && node.persistence !== "temporary") {
    throw sqlError("42P16", "ON COMMIT can only be used on temporary tables", { position });
  }
  const { schema, name } = newName(node.name, env, node.persistence);
  const storage = storageOfNew(node.options);
  const skipped = ifNotExists && env.catalog.table(schema, name) !== null;
  return {
    kind: "ddl",
    command: {
      kind: "create table",
      schema,
      name,
      ifNotExists,
      columns: columns.map((column) => newColumn(column, position)),
      primaryKey: null,
      uniques: [],
      checks: [],
      foreignKeys: [],
      indexes: [],
      ...(storage.length > 0 && { storage }),
      ...(node.persistence === "unlogged" && { unlogged: true }),
      immutable: false,
      filled: true,
      ...(node.onCommit !== "preserve" && { onCommit: node.onCommit }),
      ...(stored !== null && { materialized: { query: stored.query, populated: node.withData } }),
    },
    rows: node.withData && !skipped ? plan : emptyOf(plan),
  };
}

function bindFilling(node: CreateTableAsStatement, binding: Binding) {
  const { plan, columns } = filling(binding.query(node.query, null, PLAIN_QUERY), binding);
  return {
    plan: settleParameters(plan, binding.parameterTypes()),
    columns: namedColumns(node.columns, columns, "TABLE AS", node.position),
  };
}

/** The plan with just the query's columns. */
function filling({ plan, columns }: Source, binding: Binding): Source {
  const placed = Object.freeze({ ...binding.commonTables.place(plan), columns });
  refuseDenied(placed, binding);
  return { plan: placed, columns };
}

function newColumn({ name, type }: ViewColumn, position: number): NewColumn {
  checkStorable(type, name, position);
  return { name, type, notNull: false, defaultSql: null, identity: null, sequence: null };
}

/** Everybody may read what nobody owns, so it is filled with what everybody may read. */
function refresher(id: number, env: BindEnvironment): BindEnvironment {
  const rights = checkedRights(env);
  if (rights === null) return env;
  const access = rights.catalog.accessTo(id);
  if (access !== null && !access.invoker) return env;
  return { ...env, rights: rightsOf(rights.catalog, actingAsRole(MEMBER_ROLE)) };
}

export function bindRefresh(node: RefreshStatement, binding: Binding): BoundDdl {
  const { position } = node.name;
  const table = lookUpTable(node.name, binding);
  if (!table.materialized) throw sqlError("42809", `"${table.name}" is not a materialized view`, { position });
  const { query } = table.materialized;
  const source = binding.within(refresher(table.id, binding.env), () => bindViewQuery(table, query, binding));
  const { plan } = filling(source, binding);
  const { schema, name } = table;
  return {
    kind: "ddl",
    command: { kind: "refresh", table: { schema, name, position }, populated: node.withData },
    rows: node.withData ? plan : emptyOf(plan),
  };
}
