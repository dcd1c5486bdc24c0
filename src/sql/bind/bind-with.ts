/**
 * WITH. Each table is bound once, where it is defined; references are CommonScan nodes. At the end of the statement
 * `common-table-registry.ts` puts a table that is used once where it is used, and computes the others once. Recursive
 * tables are in `bind-recursive.ts`.
 */
import { sqlError } from "../../protocol/errors.js";
import type { CommonScanPlan, OutputColumn, Plan } from "../../query/plan/plan.js";
import { outerColumnsOf } from "../../query/plan/walk.js";
import type { CommonTableNode, QueryNode, WithNode } from "../parse/ast-query.js";
import { bindRecursive } from "./bind-recursive.js";
import { type Binding, PLAIN_QUERY, type Source } from "./binding.js";
import { type CommonTable, Scope } from "./scope.js";
import { expandSearchCycle } from "./search-cycle.js";
import { inDependencyOrder, mentions } from "./with-references.js";

export interface CommonTables {
  /** The query with those tables around it that depend on rows of an enclosing query. */
  around(source: Source): Source;
}

const NONE: CommonTables = { around: (source) => source };

/** Makes the tables visible in the scope: each in those that follow (all, with RECURSIVE), all in the query. */
export function bindWith(node: WithNode | null, scope: Scope, binding: Binding): CommonTables {
  if (node === null) return NONE;
  const names = new Set<string>();
  for (const { name, position } of node.tables) {
    if (names.has(name)) {
      throw sqlError("42712", `WITH query name "${name}" specified more than once`, { position });
    }
    names.add(name);
  }
  const local: CommonTable[] = [];
  for (const given of node.recursive ? inDependencyOrder(node.tables) : node.tables) {
    const table = given.search || given.cycle ? searched(given, node.recursive, scope, binding) : given;
    const common = bindTable(table, node.recursive, scope, binding);
    scope.commonTables.set(table.name, common);
    const { plan } = common.source!;
    const outer = [...outerColumnsOf(plan)];
    const modifies = table.statement.kind !== "query";
    common.definition = binding.addCommonTable(table, { plan, outer, modifies, recursive: common.recursive });
    if (outer.length > 0) local.push(common);
  }
  return local.length === 0 ? NONE : { around: (source) => around(source, local, binding) };
}

/** SEARCH and CYCLE, as columns of the query. Throws 42601 for a table that does not read itself. */
function searched(table: CommonTableNode, recursive: boolean, scope: Scope, binding: Binding): CommonTableNode {
  const { name, position, statement, columns } = table;
  if (!recursive || !mentions(statement, name)) throw sqlError("42601", "WITH query is not recursive", { position });
  const { body } = statement as QueryNode;
  const inside = new Scope(scope);
  // What the first query calls its columns is known only when it is bound; it is bound again as part of the whole.
  const first = body.kind === "set operation" ? binding.query(body.left, inside, PLAIN_QUERY).columns : [];
  const names = first.map((column, i) => columns[i] ?? column.name);
  const { search: _, cycle: __, ...plain } = table;
  return { ...plain, statement: expandSearchCycle(table, names) };
}

function around(source: Source, tables: readonly CommonTable[], binding: Binding): Source {
  const plan: Plan = Object.freeze({
    kind: "with",
    tables: tables.map((table) => binding.commonTables.placeHere(table.definition!)),
    input: source.plan,
    columns: source.plan.columns,
  });
  return { plan, columns: source.columns };
}

function bindTable(table: CommonTableNode, recursive: boolean, scope: Scope, binding: Binding): CommonTable {
  const { name, position, statement } = table;
  // It sees the tables before it, and of the enclosing query only what stands outside.
  const inside = new Scope(scope.parent);
  for (const [other, definition] of scope.commonTables) inside.commonTables.set(other, definition);
  const isRecursive = recursive && mentions(statement, name);
  const common: CommonTable = {
    node: table,
    scope: inside,
    source: null,
    definition: null,
    recursive: isRecursive,
    working: null,
  };
  let source: Source;
  if (statement.kind !== "query") {
    if (!scope.isOutermost) {
      const message = "WITH clause containing a data-modifying statement must be at the top level";
      throw sqlError("0A000", message, { position });
    }
    if (isRecursive) {
      const message = `recursive query "${name}" must not contain data-modifying statements`;
      throw sqlError("42P19", message, { position });
    }
    source = binding.dataStatement(statement, inside);
  } else if (isRecursive) {
    source = bindRecursive(common, binding, bindWith);
  } else {
    source = binding.query(statement as QueryNode, inside, PLAIN_QUERY);
  }
  common.source = renamed(table, source);
  return common;
}

/** The source under the names that WITH gives its columns; the plan has exactly these columns. */
function renamed(table: CommonTableNode, source: Source): Source {
  const { name, position } = table;
  if (table.columns.length > source.columns.length) {
    const message = `WITH query "${name}" has ${source.columns.length} columns available but ${table.columns.length} columns specified`;
    throw sqlError("42P10", message, { position });
  }
  const columns = source.columns.map((column, i) => ({ ...column, name: table.columns[i] ?? column.name }));
  return { plan: Object.freeze({ ...source.plan, columns }), columns };
}

function sameColumn({ id, name, type, nullable }: OutputColumn, binding: Binding): OutputColumn {
  const column = binding.newColumn(name, type, nullable);
  binding.setOrigin(column.id, binding.originOf(id));
  return column;
}

/** The table's rows at one more place. `position` is that of the reference. */
export function bindCommonTable(table: CommonTable, alias: string, position: number, binding: Binding): Source {
  const { node, source } = table;
  const { name } = node;
  if (source === null) {
    if (table.working === null) {
      const message = `recursive reference to query "${name}" must not appear within its non-recursive term`;
      throw sqlError("42P19", message, { position });
    }
    const columns = table.working.columns.map((column) => binding.newColumn(column.name, column.type, true));
    return scan({ kind: "commonscan", table: table.working.table, alias, columns });
  }
  if (node.statement.kind !== "query" && source.columns.length === 0) {
    throw sqlError("0A000", `WITH query "${name}" does not have a RETURNING clause`, { position });
  }
  const definition = table.definition!;
  const first = definition.references === 0;
  if (!first && node.materialized === false && definition.mayMove) {
    return renamed(node, binding.query(node.statement as QueryNode, table.scope, PLAIN_QUERY));
  }
  definition.references++;
  // The first reference has the definition's own columns, so that the definition can take its place.
  const columns = first ? source.columns : source.columns.map((column) => sameColumn(column, binding));
  return scan({ kind: "commonscan", table: definition.table, alias, columns });
}

function scan(plan: CommonScanPlan): Source {
  return { plan: Object.freeze(plan), columns: plan.columns };
}
