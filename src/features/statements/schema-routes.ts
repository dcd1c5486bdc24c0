/** GET /v1/schema/… */
import type { Handlers } from "../../actor/handler.js";
import { pageOf } from "../../bodies/paging.js";
import { listTables, tableColumns, tableFacts, tableIndexes } from "./table-facts.js";

export const schemaHandlers = {
  "schema.tables": async (request, { query }) => ({
    plain: await listTables(request, { ...pageOf(query), includesSystem: query.include_system === "true" }),
  }),
  "schema.table": (request, { params }) => ({ plain: tableFacts(request, params.table) }),
  "schema.columns": (request, { params }) => ({ plain: tableColumns(request, params.table) }),
  "schema.indexes": (request, { params }) => ({ plain: tableIndexes(request, params.table) }),
} satisfies Handlers;
