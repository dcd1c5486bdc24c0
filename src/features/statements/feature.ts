/** Statements as clients send them: one, several, prepared, in transactions, and on WebSockets. */

import { SQL_MANUAL } from "../../sql/manual/manual.js";
import type { Feature } from "../feature.js";
import { budgetHandlers } from "./budget-routes.js";
import { dataAuditHandlers } from "./data-audit-routes.js";
import { queryHandlers } from "./query-routes.js";
import { schemaHandlers } from "./schema-routes.js";
import { serverHandlers } from "./server-routes.js";
import { socketHandlers } from "./socket-routes.js";
import { transactionHandlers } from "./transaction-routes.js";

export const statementsFeature = {
  name: "statements",
  handlers: {
    ...queryHandlers,
    ...transactionHandlers,
    ...socketHandlers,
    ...schemaHandlers,
    ...serverHandlers,
    ...dataAuditHandlers,
    ...budgetHandlers,
  },
  tableFunctions: [SQL_MANUAL],
} satisfies Feature;
