/**
 * The query below WITH tables that are computed once. Tables that change data run to their end even if nobody reads
 * them, and after the query itself, as in PostgreSQL; all of them and the query read the snapshot from before the
 * statement (statement-snapshot.ts). For a Cypher statement that writes (`sequential`), all tables run to their end,
 * one after the other, before the query begins, and each part sees what was written before it.
 */
import type { Batch } from "../expr/expr.js";
import type { WithPlan } from "../plan/plan.js";
import { type CommonPrograms, commonRowsOf, dropCommonRows } from "./common-rows.js";
import type { ExecContext } from "./context.js";
import { drain, type Open, type Operator, type Pulled } from "./operator.js";
import { SharedRows, type SharedRowsCursor } from "./spill/shared-rows.js";

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
    if (plan.sequential) return new SequentialWithOperator(plan, input, programs, context);
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

/** The query is opened when the tables have run: its uncorrelated subqueries see what these wrote. */
class SequentialWithOperator implements Operator {
  private operator: Operator | null = null;

  constructor(
    private readonly plan: WithPlan,
    private readonly input: Open,
    private readonly programs: CommonPrograms,
    private readonly context: ExecContext,
  ) {}

  next(): Pulled {
    return this.operator === null ? this.runTables(0) : this.operator.next();
  }

  private runTables(from: number): Pulled {
    const { tables } = this.plan;
    for (let i = from; i < tables.length; i++) {
      const pending = commonRowsOf(tables[i]!.table, this.programs, this.context).complete(this.context);
      if (pending instanceof Promise) return pending.then(() => this.runTables(i + 1));
    }
    this.operator = this.input(this.context);
    return this.operator.next();
  }

  close(): void {
    this.operator?.close();
    for (const { table } of this.plan.tables) dropCommonRows(table, this.context);
  }
}

/** Holds the query's rows until every change is made: the client may stop reading before the end. */
class ModifyingWithOperator extends WithOperator {
  private readonly rows: SharedRows;
  private cursor: SharedRowsCursor | null = null;

  constructor(
    private readonly definitions: WithPlan,
    private readonly query: Operator,
    private readonly programs: CommonPrograms,
    private readonly run: ExecContext,
  ) {
    super(definitions, query, run);
    this.rows = new SharedRows(definitions.columns, run);
  }

  override next(): Pulled {
    if (this.cursor !== null) return this.emit(this.cursor);
    return drain(
      this.query,
      (batch) => this.rows.append(batch, this.run),
      () => this.finish(0),
    );
  }

  /** Runs what is left of the changes, from table `from` on. */
  private finish(from: number): Pulled {
    const { tables, columns } = this.definitions;
    for (let i = from; i < tables.length; i++) {
      const { table, modifies } = tables[i]!;
      if (!modifies) continue;
      const rest = commonRowsOf(table, this.programs, this.run).complete(this.run);
      if (rest instanceof Promise) return rest.then(() => this.finish(i + 1));
    }
    const slots = columns.map((_, slot) => slot);
    this.cursor = this.rows.cursor(slots, false, this.run);
    return this.emit(this.cursor);
  }

  private emit(cursor: SharedRowsCursor): Batch | null {
    return cursor.isAtEnd ? null : cursor.read();
  }

  override close(): void {
    super.close();
    this.cursor?.close();
    this.rows.close();
  }
}
