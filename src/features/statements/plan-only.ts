/** A statement's plan, without running it. Called by those who are asked whether a statement would run. */

import type { Request } from "../../actor/request.js";
import { Session } from "../../session/session.js";
import type { StatementPlan } from "../../session/statement-plan.js";
import { sessionOptions } from "./query-routes.js";

/** In either language, or in the one that is said. Throws what is wrong with the statement. */
export function planOnly(request: Request, sql: string, language?: "sql"): StatementPlan {
  const { tenant } = request;
  const tx = tenant.partition.shard.begin({ readOnly: true });
  try {
    const session = new Session(tenant, { ...sessionOptions(request, "routes"), readOnly: true });
    const statement = { sql, params: [], ...(language !== undefined && { language }) };
    return session.planFor(statement, tenant.catalog.view(tx), tx);
  } finally {
    tenant.rollback(tx);
  }
}
