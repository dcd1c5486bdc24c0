/** The rows that FOR UPDATE and FOR SHARE of one query lock. */
import type { ColumnId } from "../../query/expr/expr.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { Plan } from "../../query/plan/plan.js";
import type { FromNode, LockingNode } from "../parse/ast-query.js";

export class LockedRows {
  private readonly keys = new Map<LockingNode, ColumnId[]>();

  constructor(private readonly clauses: readonly LockingNode[]) {}

  /** The clause that locks the table's rows; null: none does. */
  clauseFor({ name, alias }: Pick<Extract<FromNode, { kind: "table" }>, "name" | "alias">): LockingNode | null {
    const called = alias?.name ?? name.path.at(-1)!;
    const isMeant = ({ relations }: LockingNode): boolean =>
      relations.length === 0 || relations.some(({ path }) => path[0] === called);
    return this.clauses.find(isMeant) ?? null;
  }

  add(clause: LockingNode, key: ColumnId): void {
    const keys = this.keys.get(clause);
    if (keys === undefined) this.keys.set(clause, [key]);
    else keys.push(key);
  }

  /** The input, whose rows are locked as they come. */
  around(input: Plan, oneByOne: boolean): Plan {
    let plan = input;
    for (const [{ wait }, ids] of this.keys) {
      const keys = ids.map((id) => columnExpr(input.columns.find((column) => column.id === id)!));
      plan = Object.freeze({ kind: "lock", input: plan, keys, wait, oneByOne, columns: plan.columns });
    }
    return plan;
  }
}
