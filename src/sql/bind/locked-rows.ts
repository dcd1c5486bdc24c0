/** The rows that FOR UPDATE and FOR SHARE of one query lock. */
import { LOCK_STRENGTHS } from "../../protocol/lock-strength.js";
import type { ColumnId } from "../../query/expr/expr.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { Plan } from "../../query/plan/plan.js";
import type { FromNode, LockingNode } from "../parse/ast-query.js";

const rank = ({ strength }: LockingNode): number => LOCK_STRENGTHS.indexOf(strength);

export class LockedRows {
  private readonly keys = new Map<LockingNode, { readonly id: ColumnId; readonly table: string }[]>();

  constructor(private readonly clauses: readonly LockingNode[]) {}

  /** The clause that locks the table's rows, of several the strongest; null: none does. */
  clauseFor({ name, alias }: Pick<Extract<FromNode, { kind: "table" }>, "name" | "alias">): LockingNode | null {
    const called = alias?.name ?? name.path.at(-1)!;
    const isMeant = ({ relations }: LockingNode): boolean =>
      relations.length === 0 || relations.some(({ path }) => path[0] === called);
    const meant = this.clauses.filter(isMeant);
    return meant.sort((a, b) => rank(b) - rank(a))[0] ?? null;
  }

  add(clause: LockingNode, id: ColumnId, table: string): void {
    const keys = this.keys.get(clause);
    if (keys === undefined) this.keys.set(clause, [{ id, table }]);
    else keys.push({ id, table });
  }

  /** The input, whose rows are locked as they come. */
  around(input: Plan, oneByOne: boolean): Plan {
    let plan = input;
    for (const [{ strength, wait }, rows] of this.keys) {
      const keys = rows.map(({ id }) => columnExpr(input.columns.find((column) => column.id === id)!));
      const tables = rows.map(({ table }) => table);
      plan = Object.freeze({
        kind: "lock",
        input: plan,
        keys,
        tables,
        strength,
        wait,
        oneByOne,
        columns: plan.columns,
      });
    }
    return plan;
  }
}
