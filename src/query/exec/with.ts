/**
 * The query below WITH tables that are computed once. Tables that change data run to their end even when nobody reads
 * them, and after the query itself, as PostgreSQL does it; all of them and the query read the snapshot from before the
 * statement (statement-snapshot.ts).
 */
import type { WithPlan } from "../plan/plan.js";
import { type CommonPrograms, commonRowsOf, dropCommonRows } from "./common-rows.js";
import type { CommonRows, ExecContext } from "./context.js";
import { drain, type Open, type Operator, type Pulled } from "./operator.js";
import { RowBuffer } from "./row-buffer.js";

/** `opens`: one per definition, then the input's. The definitions are added to `programs`. */
export function compileWith(plan: WithPlan, opens: readonly Open[], programs: CommonPrograms): Open {
  plan.tables.forEach(({ table, plan: definition, modifies }, i) => {
    programs.set(table, { open: opens[i]!, columns: definition.columns, modifies });
  });
  const input = opens[plan.tables.length]!;
  const modifies = plan.tables.some((definition) => definition.modifies);
  return (context) => {
    // A query that depends on a row of an enclosing one is opened again for the next row.
    for (const { table } of plan.tables) if (table.outer.length > 0) dropCommonRows(table, context);
    const operator = input(context);
    return modifies
      ? new ModifyingWithOperator(plan, operator, programs, context)
      : new WithOperator(plan, operator, context);
  };
}

class WithOperator implements Operator {
  constructor(
    private readonly plan: WithPlan,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {}

  next(): Pulled {
    return this.input.next();
  }

  close(): void {
    this.input.close();
    for (const { table } of this.plan.tables) dropCommonRows(table, this.context);
  }
}

/** Holds the query's rows until every change is made: the client may stop reading before the end. */
class ModifyingWithOperator extends WithOperator {
  private readonly rows: RowBuffer;
  private position = -1;

  constructor(
    private readonly definitions: WithPlan,
    private readonly query: Operator,
    private readonly programs: CommonPrograms,
    private readonly run: ExecContext,
  ) {
    super(definitions, query, run);
    this.rows = new RowBuffer(definitions.columns, run);
  }

  override next(): Pulled {
    if (this.position >= 0) return this.emit();
    return drain(
      this.query,
      (batch) => this.rows.append(batch),
      () => this.finish(0),
    );
  }

  /** Runs what is left of the changes, from table `from` on. */
  private finish(from: number): Pulled {
    const { tables } = this.definitions;
    for (let i = from; i < tables.length; i++) {
      const { table, modifies } = tables[i]!;
      if (!modifies) continue;
      const rest = toEnd(commonRowsOf(table, this.programs, this.run));
      if (rest instanceof Promise) return rest.then(() => this.finish(i + 1));
    }
    this.position = 0;
    return this.emit();
  }

  private emit(): Pulled {
    const from = this.position;
    const { rows, run } = this;
    if (from === rows.length) return null;
    const to = Math.min(from + run.batchRows, rows.length);
    this.position = to;
    return { columns: rows.columns.map((values) => values.slice(from, to)), length: to - from };
  }

  override close(): void {
    super.close();
    this.rows.release();
  }
}

function toEnd(rows: CommonRows): void | Promise<void> {
  for (;;) {
    const more = rows.more();
    if (more instanceof Promise) return more.then((came) => (came ? toEnd(rows) : undefined));
    if (!more) return;
  }
}
