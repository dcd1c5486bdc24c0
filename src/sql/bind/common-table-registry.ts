/**
 * The WITH tables of one statement: how often each is read, and where it is computed in the end. Owned by the
 * statement's Binding; filled by bind-with.ts, applied by bind-statement.ts to the bound plan.
 */
import { sqlError } from "../../protocol/errors.js";
import { SQL_DEPTH_MAX } from "../../protocol/limits.js";
import type { ColumnId } from "../../query/expr/expr.js";
import type { CommonTableDefinition, Plan, CommonTable as PlanTable } from "../../query/plan/plan.js";
import { isVolatilePlan, mapPlan, mapSubqueries } from "../../query/plan/walk.js";
import type { CommonTableNode } from "../parse/ast-query.js";

/** A table as it was bound. */
export interface BoundCommonTable {
  readonly table: PlanTable;
  readonly plan: Plan;
  readonly modifies: boolean;
  /** Its query may be put where it is read: it is not recursive and gives the same rows each time. */
  readonly mayMove: boolean;
  readonly materialized: boolean | null;
  references: number;
}

export interface CommonTableFacts {
  readonly plan: Plan;
  readonly outer: readonly ColumnId[];
  readonly modifies: boolean;
  readonly recursive: boolean;
}

export class CommonTableRegistry {
  private readonly tables: BoundCommonTable[] = [];
  /** Tables in a `with` node of an inner query, because they depend on rows outside of it. */
  private readonly local = new Set<BoundCommonTable>();

  add(node: CommonTableNode, { plan, outer, modifies, recursive }: CommonTableFacts): BoundCommonTable {
    // Each may come to stand inside the next one: their number is also the depth of the plan.
    if (this.tables.length === SQL_DEPTH_MAX) {
      throw sqlError("54001", "statement too complex", { position: node.position });
    }
    const table: PlanTable = Object.freeze({ name: node.name, outer, working: false });
    const mayMove = !modifies && !recursive && !isVolatilePlan(plan);
    const bound = { table, plan, modifies, mayMove, materialized: node.materialized, references: 0 };
    this.tables.push(bound);
    return bound;
  }

  /** The definition for a `with` node that the caller makes. */
  placeHere(bound: BoundCommonTable): CommonTableDefinition {
    this.local.add(bound);
    return { table: bound.table, plan: bound.plan, modifies: bound.modifies };
  }

  /** The statement's plan with every table in its place: PostgreSQL's rule for what is computed once. */
  place(plan: Plan): Plan {
    if (this.tables.length === 0) return plan;
    const moved = new Map<PlanTable, Plan>();
    for (const bound of this.tables) {
      if (bound.mayMove && bound.references === 1 && bound.materialized !== true) moved.set(bound.table, bound.plan);
    }
    const rewrite = (part: Plan): Plan => mapPlan(part, (node) => change(mapSubqueries(node, rewrite)));
    const change = (node: Plan): Plan => {
      if (node.kind === "commonscan") {
        const definition = moved.get(node.table);
        return definition === undefined ? node : Object.freeze({ ...rewrite(definition), columns: node.columns });
      }
      if (node.kind !== "with") return node;
      const tables = node.tables.filter(({ table }) => !moved.has(table));
      return tables.length === 0 ? node.input : Object.freeze({ ...node, tables });
    };
    const input = rewrite(plan);
    const kept = this.tables.filter(
      (bound) => !this.local.has(bound) && !moved.has(bound.table) && (bound.references > 0 || bound.modifies),
    );
    if (kept.length === 0) return input;
    const tables = kept.map(({ table, plan: definition, modifies }) => ({
      table,
      plan: rewrite(definition),
      modifies,
    }));
    return Object.freeze({ kind: "with", tables, input, columns: input.columns });
  }
}
