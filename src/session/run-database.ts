/** CREATE, ALTER and DROP DATABASE. Who keeps databases registers itself (features/branches/databases.ts). */
import { sqlError } from "../protocol/errors.js";
import { Capability, need } from "../query/expr/capability.js";
import type { BoundDatabase } from "../sql/bind/bound-statement.js";
import type { DatabaseAction } from "../sql/parse/ast-definitions.js";
import type { ShardTransaction } from "../storage/transaction.js";
import type { ExecutionScope } from "./execution-scope.js";
import { type Outcome, textOutcome } from "./sql-result.js";
import type { StatementRun } from "./statement-run.js";

/** The databases of a tenant, for the statement's caller. */
export interface Databases {
  /** Resolves with notices when it is done, on disk. Throws 42501, 42P04, 42602, 3D000, 55006, 0A000 and others. */
  run(action: DatabaseAction, signal: AbortSignal | null): Promise<readonly string[]>;
}

export const DATABASES = new Capability<Databases>(
  "Databases are made, altered and dropped by a client's request.",
  true,
);

/** Throws 25001 in a transaction block: what is done is not taken back. */
export async function runDatabase(
  scope: ExecutionScope,
  { tag, action }: BoundDatabase,
  run: StatementRun,
  tx: ShardTransaction,
): Promise<Outcome> {
  if (scope.block.isOpen) throw sqlError("25001", `${tag} cannot run inside a transaction block`);
  scope.requireWritable(tag);
  scope.names.rights(scope.tenant.catalog.view(tx)).requireDefining();
  const context = scope.contextFor(tx, run.request, []);
  const notices = await need(context, DATABASES).run(action, run.request.signal?.() ?? null);
  return textOutcome("result", [tag], run.collector, notices);
}
