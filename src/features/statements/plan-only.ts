/** Plans a statement without running it, for callers that want to know whether it would run. */

import type { Request } from "../../actor/request.js";
import { Session } from "../../session/session.js";
import { clientOptions } from "../../session/session-options.js";
import type { StatementPlan } from "../../session/statement-plan.js";

/** In either language, or in the one that is said. Throws an error that says what is wrong with the statement. */
export function planOnly(request: Request, sql: string, language?: "sql"): StatementPlan {
  const { tenant } = request;
  const tx = tenant.partition.shard.begin({ readOnly: true });
  try {
    const session = new Session(tenant, { ...clientOptions(request, "routes"), readOnly: true });
    const statement = { sql, params: [], ...(language !== undefined && { language }) };
    return session.planFor(statement, tenant.catalog.view(tx), tx);
  } finally {
    tenant.rollback(tx);
  }
}
