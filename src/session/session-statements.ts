/**
 * Statements that a session prepared by SQL (PREPARE), by name. Owned by the session and gone with it; prepared
 * statements of the routes are in prepared-statements.ts.
 */
import { sqlError } from "../protocol/errors.js";
import { PREPARED_STATEMENTS_MAX } from "../protocol/limits.js";
import type { BoundPrepare } from "../sql/bind/bound-statement.js";
import type { PreparedStatementFacts } from "../sql/bind/system/system-view.js";
import type { StatementNode } from "../sql/parse/ast.js";
import type { SqlType } from "../values/values.js";
import { requireSame } from "./same-columns.js";
import type { StatementPlan } from "./statement-plan.js";

/** Plans the tree under the definitions of now. */
export type PlanNode = (node: StatementNode, declaredTypes: readonly (SqlType | null)[]) => StatementPlan;

interface Prepared {
  readonly node: StatementNode;
  readonly types: readonly SqlType[];
  /** As it was sent, and when; microseconds since the epoch. */
  readonly sql: string;
  readonly preparedMicros: number;
  plan: StatementPlan;
  /** Whose rights the plan has, and where it found its names. */
  nameKey: string;
}

/** A statement of a protocol. */
export interface PreparedFacts {
  readonly sql: string;
  readonly preparedMicros: number;
  /** Null: there is nothing to plan. */
  readonly plan: StatementPlan | null;
}

export class SessionStatements {
  private readonly statements = new Map<string, Prepared>();
  /** Those that a server of a protocol keeps for the session: DEALLOCATE is about them too. */
  ofProtocol: Map<string, PreparedFacts> | null = null;

  /** The plan of the statement that is to be added. Throws 42P05 for a name that is taken, and planning errors. */
  plan({ name, node, types }: BoundPrepare, planNode: PlanNode): StatementPlan {
    if (this.statements.has(name)) throw sqlError("42P05", `prepared statement "${name}" already exists`);
    if (this.statements.size === PREPARED_STATEMENTS_MAX) {
      throw sqlError("54000", `a session can have at most ${PREPARED_STATEMENTS_MAX} prepared statements`);
    }
    return planNode(node, types);
  }

  add({ name, node, types }: BoundPrepare, plan: StatementPlan, sql: string, nameKey: string): void {
    this.statements.set(name, { node, types, plan, sql, nameKey, preparedMicros: Date.now() * 1000 });
  }

  /** All that have a name. */
  *all(): Iterable<PreparedStatementFacts> {
    for (const [name, { sql, preparedMicros, plan }] of this.statements) {
      yield { name, sql, preparedMicros, parameterTypes: plan.parameterTypes, bySql: true };
    }
    for (const [name, { sql, preparedMicros, plan }] of this.ofProtocol ?? []) {
      if (name === "") continue;
      yield { name, sql, preparedMicros, parameterTypes: plan?.parameterTypes ?? [], bySql: false };
    }
  }

  /** The statement's plan, planned again if definitions, the session's role or its path have changed. Throws 26000. */
  planOf(name: string, catalogVersion: number | string, nameKey: string, planNode: PlanNode): StatementPlan {
    const prepared = this.find(name);
    if (prepared.plan.catalogVersion !== catalogVersion || prepared.nameKey !== nameKey) {
      // The types that were found when it was prepared stay.
      const plan = planNode(prepared.node, prepared.plan.parameterTypes);
      const [told, now] = [prepared.plan, plan].map((one) => (one.bound.kind === "query" ? one.shape!.outputs : []));
      requireSame(told!, now!);
      prepared.plan = plan;
      // Only now: a session that was refused has not got the plan of the one before it.
      prepared.nameKey = nameKey;
    }
    return prepared.plan;
  }

  /** Throws 26000. */
  find(name: string): Prepared {
    const prepared = this.statements.get(name);
    if (prepared === undefined) throw missing(name);
    return prepared;
  }

  /** `name` null: all. Throws 26000. */
  deallocate(name: string | null): void {
    if (name === null) {
      this.statements.clear();
      this.ofProtocol?.clear();
      return;
    }
    if (!this.statements.delete(name) && this.ofProtocol?.delete(name) !== true) throw missing(name);
  }
}

function missing(name: string): Error {
  return sqlError("26000", `prepared statement "${name}" does not exist`);
}
