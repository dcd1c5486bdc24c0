/** DROP DATABASE: the one database that a session sees is its tenant, which it cannot drop. */
import { sqlError } from "../protocol/errors.js";
import type { BoundDropDatabase } from "../sql/bind/bound-statement.js";
import type { ExecutionScope } from "./execution-scope.js";
import { type Outcome, textOutcome } from "./sql-result.js";
import type { StatementRun } from "./statement-run.js";

export function dropDatabase({ name, ifExists }: BoundDropDatabase, scope: ExecutionScope, run: StatementRun): Outcome {
  scope.requireWritable("drop database");
  if (scope.block.isOpen) throw sqlError("25001", "DROP DATABASE cannot run inside a transaction block");
  if (name === scope.identity.tenantName) {
    throw sqlError("55006", "cannot drop the currently open database", {
      hint: "The database is the tenant. An administrator of the installation deletes tenants.",
    });
  }
  const message = `database "${name}" does not exist`;
  if (!ifExists) throw sqlError("3D000", message);
  return textOutcome("result", ["DROP DATABASE"], run.collector, [`${message}, skipping`]);
}
