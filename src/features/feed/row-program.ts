/**
 * A query over a single row that is given: what filters of subscriptions are. The row stands in the place of a table, as
 * VALUES of parameters with the columns' types, so filters mean exactly what they mean in a search.
 */

import type { ExecContext } from "../../query/exec/context.js";
import { createContext } from "../../query/exec/create-context.js";
import type { Program } from "../../query/exec/operator.js";
import { runToCompletion } from "../../query/exec/run.js";
import { convertParameters } from "../../session/run-program.js";
import type { ResultShape } from "../../session/sql-result.js";
import { planNode } from "../../session/statement-plan.js";
import type { Tenant } from "../../session/tenant.js";
import { nowMicros } from "../../session/transaction-block.js";
import { parseSql } from "../../sql/parse/parse.js";
import type { ShardTransaction } from "../../storage/transaction.js";
import type { SqlType, Value } from "../../values/values.js";

export interface RowColumn {
  readonly name: string;
  readonly type: SqlType;
}

export interface RowQuery {
  readonly columns: readonly RowColumn[];
  /** Over those columns, as SQL text; its parameters are $1 … */
  readonly condition: string;
  readonly params: readonly unknown[];
}

/** A condition has no way of giving the loop its turns, and needs none. */
const ALONE = {
  checkpoint: () => undefined,
  shouldYield: () => false,
  yieldTurn: () => Promise.resolve(),
};

export class RowProgram {
  private constructor(
    private readonly program: Program,
    private readonly params: readonly Value[],
    readonly shape: ResultShape,
  ) {}

  /** Throws what is wrong with the condition. */
  static compile(tenant: Tenant, tx: ShardTransaction, { columns, condition, params }: RowQuery): RowProgram {
    const given = columns.map((_, i) => `$${params.length + i + 1}`).join(", ");
    const names = columns.map(({ name }) => `"${name.replaceAll('"', '""')}"`).join(", ");
    const sql = `SELECT 1 FROM (VALUES (${given})) AS changed (${names}) WHERE ${condition}`;
    const declaredTypes = [...params.map(() => null), ...columns.map(({ type }) => type)];
    const environment = { catalog: tenant.catalog.view(tx), searchPath: ["pg_catalog", "public"], declaredTypes };
    const noGraph = (): never => {
      throw new Error("a filter reads no graph");
    };
    const plan = planNode(parseSql(sql)[0]!.node, [], environment, tenant.statistics.source(tx), noGraph);
    const own = { ...plan, parameterTypes: plan.parameterTypes.slice(0, params.length) };
    return new RowProgram(plan.program!, convertParameters(own, params), plan.shape!);
  }

  /** Whether the condition holds. */
  holds(row: readonly Value[], context: ExecContext): boolean {
    const result = runToCompletion(this.program, { ...context, params: [...this.params, ...row] }, { maxRows: 1 });
    if (result instanceof Promise) throw new Error("a condition on one row does not wait");
    return result.rows.length > 0;
  }
}

/** For conditions; ends with the transaction. */
export function conditionContext(tenant: Tenant, tenantName: string, tx: ShardTransaction): ExecContext {
  const { partition, number } = tenant;
  const now = nowMicros();
  return createContext({
    tx,
    tenantNumber: number,
    tenant: tenantName,
    user: "",
    params: [],
    rowNumbers: partition.rowNumbers,
    transactionMicros: now,
    statementMicros: now,
    timeZone: "UTC",
    memoryBytesMax: partition.config.query.memoryBytesMax,
    ...ALONE,
  });
}
