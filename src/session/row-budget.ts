/**
 * Counts the rows that a statement gives its client, where the client may get so many only. Called by
 * statement-runner.ts and protocol-session.ts.
 */
import type { TakeRows } from "./cursor.js";
import type { Client, RowBudget, StatementRun } from "./statement-run.js";

/** The same run; its rows throw budget_exhausted where fewer are left, so the statement fails and changes nothing. */
export function withinBudget(run: StatementRun): StatementRun {
  const budget = budgetOf(run.request);
  if (budget === null) return run;
  return {
    ...run,
    collector: (shape, streamable) => {
      const rows = run.collector(shape, streamable);
      const append = rows.append.bind(rows);
      rows.append = (batch, count) => {
        budget.takeRows(count);
        const bytes = append(batch, count);
        budget.owe(bytes);
        return bytes;
      };
      return rows;
    },
  };
}

/** The same for rows that a client fetches from a cursor. */
export function takingWithin(client: Client, take: TakeRows): TakeRows {
  const budget = budgetOf(client);
  if (budget === null) return take;
  return (batch) => {
    budget.takeRows(batch.length);
    take(batch);
  };
}

function budgetOf(client: Client): RowBudget | null {
  return (client.origin ?? client).budget ?? null;
}
