/**
 * Policies of a graph's two tables as conditions of Cypher. They are bound once for each node and relationship of a
 * pattern, over its columns. Called by session/statement-plan.ts.
 */
import type { GraphTables } from "../../catalog/graph.js";
import type { Rights } from "../../catalog/rights.js";
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import type { ColumnId, Expr } from "../../query/expr/expr.js";
import { columnsOf } from "../../query/expr/walk.js";
import { edgeColumnList, type GraphGuard, nodeColumnList } from "../../query/plan/graph-guard.js";
import type { EntityPolicies } from "../../query/plan/graph-plans.js";
import type { OutputColumn, Plan } from "../../query/plan/plan.js";
import { bindData } from "./bind-data.js";
import { bindQuery } from "./bind-query.js";
import { Binding } from "./binding.js";
import type { BindEnvironment } from "./bound-statement.js";
import { checkedRights, refuseDenied } from "./relation-rights.js";
import { existingChecks, policyChecks, visibleRow } from "./row-security.js";

/** Null: no policy decides what the statement's role sees of the graph. */
export function graphGuard(graph: GraphTables, env: BindEnvironment, newColumnId: () => ColumnId): GraphGuard | null {
  const rights = checkedRights(env);
  if (rights === null || ![graph.nodes, graph.edges].some(({ id }) => rights.isPoliced(id))) return null;
  const nodes = new TablePolicies(graph.nodes, rights, env, newColumnId);
  const edges = new TablePolicies(graph.edges, rights, env, newColumnId);
  return {
    node: (columns) => nodes.visible(nodeColumnList(columns)),
    edge: (columns) => edges.visible(edgeColumnList(columns)),
    writtenNodes: () => nodes.written(),
    writtenEdges: () => edges.written(),
  };
}

const ONE_ROW: Plan = Object.freeze({ kind: "values", rows: [[]], columns: [] });

class TablePolicies {
  private readonly binding: Binding;
  private readonly isPoliced: boolean;

  constructor(
    private readonly table: TableDef,
    private readonly rights: Rights,
    env: BindEnvironment,
    newColumnId: () => ColumnId,
  ) {
    // Columns that subqueries of policies make are none of the statement's own numbers.
    const { isSent: _, ...ofPolicies } = env;
    this.binding = new Binding(ofPolicies, bindQuery, bindData, newColumnId);
    this.isPoliced = rights.isPoliced(table.id);
  }

  /** `known`: the first of the table's columns. */
  visible(known: readonly OutputColumn[]): Expr | null {
    if (!this.isPoliced) return null;
    const columns = this.allColumns(known);
    const condition = visibleRow(this.table, columns, this.rights, this.binding);
    this.check([condition], columns.slice(known.length));
    return condition;
  }

  written(): EntityPolicies | null {
    if (!this.isPoliced) return null;
    const { table, rights, binding } = this;
    const count = table.collection?.kind === "graph" && table.collection.of === "nodes" ? NODE : EDGE;
    const columns = this.allColumns([]);
    const policies: EntityPolicies = {
      columns: columns.slice(0, count),
      visible: existingChecks(table, columns, ["select"], "target", rights, binding),
      insert: policyChecks(table, columns, "insert", true, rights, binding),
      existing: existingChecks(table, columns, ["update", "select"], "target", rights, binding),
      update: policyChecks(table, columns, "update", true, rights, binding),
      remove: existingChecks(table, columns, ["delete", "select"], "target", rights, binding),
    };
    const { visible, insert, existing, update, remove } = policies;
    const all = [visible, insert, existing, update, remove].flat().map(({ predicate }) => predicate);
    this.check(all, columns.slice(count));
    return policies;
  }

  /** Indexes for search add generated columns to the table. */
  private allColumns(known: readonly OutputColumn[]): readonly OutputColumn[] {
    return this.table.columns.map(
      ({ name, type, notNull }, i) => known[i] ?? this.binding.newColumn(name, type, !notNull),
    );
  }

  /** Throws 42501 for what a policy reads and the role may not, 0A000 for a generated column. */
  private check(conditions: readonly Expr[], generated: readonly OutputColumn[]): void {
    for (const predicate of conditions) {
      refuseDenied(
        Object.freeze({ kind: "filter", input: ONE_ROW, predicate, trusted: true, columns: [] }),
        this.binding,
      );
      const read = columnsOf(predicate);
      const column = generated.find(({ id }) => read.has(id));
      if (column === undefined) continue;
      throw sqlError("0A000", `a policy of a graph cannot read the column "${column.name}", which an index made`);
    }
  }
}

/** Columns that make a node and a relationship. */
const NODE = 3;
const EDGE = 5;
