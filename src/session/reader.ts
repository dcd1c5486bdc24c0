/**
 * Refuses what a credential with ReadOnly permission may not do. Used where statements run, and where they are
 * prepared.
 */
import { DbError } from "../protocol/errors.js";
import type { Plan } from "../query/plan/plan.js";
import { modifyingNodes } from "../query/plan/walk.js";
import { calledWriter } from "../sql/bind/bind-statement.js";
import type { BoundQuery, BoundStatement } from "../sql/bind/bound-statement.js";

export function refusedToReader(what: string): DbError {
  return new DbError("forbidden", `${READER} ${what} is refused.`, { sqlstate: "42501" });
}

const READER = "The credential has ReadOnly permission;";

/** Not for what its role may not do. */
export function isRefusedToReader({ code, message }: DbError): boolean {
  return code === "forbidden" && message.startsWith(READER);
}

/**
 * Throws 42501 for a statement that would be refused when it runs. Of blocks and procedures each statement is looked at
 * then.
 */
export function requireReading(bound: BoundStatement): void {
  switch (bound.kind) {
    case "query":
      if (bound.locksRows === true) throw refusedToReader("SELECT FOR UPDATE");
      if (!bound.readOnly && !bound.callsRoutines) throw refusedToReader(writerIn(bound.command, bound.plan));
      return;
    case "explain":
      if (bound.analyze) requireReading(bound.statement);
      return;
    case "declare cursor":
      requireReading(bound.statement);
      return;
    case "ddl":
    case "ddl steps":
    case "drop database":
    case "analyze":
    case "verify":
    case "create table as execute":
      throw refusedToReader("a statement that changes the database");
    default:
      return;
  }
}

/** What writes in a statement that does: a SELECT is not it, but a command in its WITH or a function that it calls. */
export function writerIn(command: BoundQuery["command"], plan: Plan): string {
  if (command !== "select") return command.toUpperCase();
  const [changed] = modifyingNodes(plan);
  if (changed !== undefined) return changed.kind.toUpperCase();
  const fn = calledWriter(plan);
  return fn === null ? "SELECT" : `the function ${fn.name}()`;
}
