/** The result of binding a Cypher statement, for the session (session/statement-plan.ts). */
import type { GraphCommand } from "../../catalog/graph-command.js";
import type { OutputColumn, Plan } from "../../query/plan/plan.js";

import type { InTransactions } from "./binding.js";

export interface BoundCypherQuery {
  readonly kind: "query";
  readonly plan: Plan;
  /** The result's columns under the names that Cypher gives them; empty when nothing is returned. */
  readonly columns: readonly OutputColumn[];
  /** The parameter `index` of the plan is the one of this name; all are variants. */
  readonly parameterNames: readonly string[];
  /** Those that are null where they did not come. */
  readonly optionalParameters: ReadonlySet<string>;
  /** Those whose values the plan is made with, by name: other values need another plan. */
  readonly fixedParameters: ReadonlyMap<string, unknown>;
  /** Writes nothing. */
  readonly readOnly: boolean;
  /** It has a CALL IN TRANSACTIONS; null: it has none. */
  readonly inTransactions: InTransactions | null;
  /** It ends in RETURN, or is a lone CALL. */
  readonly returnsRows: boolean;
}

/** CREATE INDEX and its kin. */
export interface BoundSchemaCommand {
  readonly kind: "ddl";
  readonly command: GraphCommand;
}

export type BoundCypher = BoundCypherQuery | BoundSchemaCommand;
