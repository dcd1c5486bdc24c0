/** WITH: each table is bound where it is used, as if its query stood there. */
import { sqlError } from "../../protocol/errors.js";
import type { QueryNode, WithNode } from "../parse/ast-query.js";
import { type Binding, PLAIN_QUERY, type Source } from "./binding.js";
import { type CommonTable, Scope } from "./scope.js";

/**
 * Makes the tables visible in the scope: each in those that follow, all in the query. `finish` is called once the
 * query is bound: tables that it never used must be valid, too.
 */
export function bindWith(node: WithNode | null, scope: Scope, binding: Binding): { finish(): void } {
  if (node === null) return { finish() {} };
  const tables: CommonTable[] = [];
  for (const table of node.tables) {
    const { name, position, statement } = table;
    if (scope.commonTables.has(name)) {
      throw sqlError("42712", `WITH query name "${name}" specified more than once`, { position });
    }
    if (statement.kind !== "query") {
      throw sqlError("0A000", "a data-modifying statement in WITH is not supported yet", { position });
    }
    // Its query sees the tables before it, and of the enclosing query only what stands outside.
    const inside = new Scope(scope.parent);
    for (const [other, definition] of scope.commonTables) inside.commonTables.set(other, definition);
    if (node.recursive && mentions(statement as QueryNode, name)) {
      throw sqlError("0A000", "recursive WITH is not supported yet", { position });
    }
    const common: CommonTable = { node: table, scope: inside, used: false };
    scope.commonTables.set(name, common);
    tables.push(common);
  }
  return {
    finish() {
      for (const table of tables) if (!table.used) bindCommonTable(table, binding);
    },
  };
}

/** A fresh copy of the table's rows, under the names that WITH gives its columns. */
export function bindCommonTable(table: CommonTable, binding: Binding): Source {
  table.used = true;
  const { node, scope } = table;
  const source = binding.query(node.statement as QueryNode, scope, PLAIN_QUERY);
  if (node.columns.length > source.columns.length) {
    const message = `WITH query "${node.name}" has ${source.columns.length} columns available but ${node.columns.length} columns specified`;
    throw sqlError("42P10", message, { position: node.position });
  }
  const columns = source.columns.map((column, i) => ({ ...column, name: node.columns[i] ?? column.name }));
  return { plan: source.plan, columns };
}

/** Whether a table of that name stands in some FROM below. */
function mentions(node: unknown, name: string): boolean {
  if (typeof node !== "object" || node === null) return false;
  if ("kind" in node && node.kind === "table" && "name" in node) {
    const { path } = node.name as { readonly path: readonly string[] };
    if (path.length === 1 && path[0] === name) return true;
  }
  return Object.values(node).some((child) => mentions(child, name));
}
