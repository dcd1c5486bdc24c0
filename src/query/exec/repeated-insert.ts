/**
 * An INSERT of one row that clients send again and again with other parameters: what opens it is opened once, and each
 * row is computed, checked and stored before the next one is computed, as if it were a statement of its own. The
 * session runs it (repeated-run.ts).
 */
import type { Batch, Expr } from "../expr/expr.js";
import { someExpr } from "../expr/walk.js";
import type { InsertPlan } from "../plan/change-plans.js";
import type { Plan, ValuesPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { Inserter } from "./insert.js";
import { insertProgramOf } from "./insert-program.js";
import { hasTriggers } from "./table-triggers.js";
import { compileValues } from "./values.js";

export interface RepeatedInsert {
  readonly plan: InsertPlan;
  open(context: ExecContext): RowInserter;
}

export interface RowInserter {
  /** Inserts the row that the context's parameters make. */
  insertRow(): void;
  close(): void;
}

type SingleRowInsert = InsertPlan & { readonly input: ValuesPlan };

/** Null: the statement does more than to put one row into one table. */
export function compileRepeatedInsert(plan: Plan): RepeatedInsert | null {
  if (!isSingleRowInsert(plan)) return null;
  const program = insertProgramOf(plan);
  const values = compileValues(plan.input);
  return {
    plan,
    open: (context) => {
      const input = values(context);
      const inserter = new Inserter(program, input, context);
      return {
        insertRow: () => {
          input.rewind();
          inserter.insertSingle(input.next() as Batch);
        },
        close: () => inserter.release(),
      };
    },
  };
}

function isSingleRowInsert(plan: Plan): plan is SingleRowInsert {
  if (plan.kind !== "insert" || plan.input.kind !== "values" || plan.input.rows.length !== 1) return false;
  if (plan.instead || plan.returning !== null || plan.onConflict !== null || plan.generated !== undefined) return false;
  const { table, partitions, membership, checks, input } = plan;
  if (partitions !== undefined || membership !== undefined || hasTriggers(table, partitions)) return false;
  return input.rows[0]!.every(isQuick) && checks.every(({ predicate }) => isQuick(predicate));
}

/** Is computed at once, by the row alone. */
function isQuick(expr: Expr): boolean {
  return !someExpr(expr, (node) => {
    if (node.kind === "subquery") return true;
    if (node.kind !== "call") return false;
    const { routine, deferred, slow } = node.fn;
    return routine !== undefined || deferred !== undefined || slow !== undefined;
  });
}
