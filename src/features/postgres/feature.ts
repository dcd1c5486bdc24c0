/** Sessions of PostgreSQL's protocol; its server is src/postgres. */
import { provideCapability } from "../../session/capabilities.js";
import type { Feature } from "../feature.js";
import { descriptorsOf, LARGE_OBJECT_FUNCTIONS, LARGE_OBJECT_RELATIONS, LARGE_OBJECTS } from "./large-objects.js";
import { postgresHandlers } from "./postgres-routes.js";
import { requestActions } from "./request-actions.js";
import { SEND_FUNCTIONS } from "./send-functions.js";
import { SESSION, SESSION_FUNCTIONS, SESSION_TABLE_FUNCTIONS } from "./session-functions.js";
import { WireClient } from "./wire-client.js";
import { WIRE_SESSIONS } from "./wire-sessions.js";

export const postgresFeature = {
  name: "postgres",
  handlers: postgresHandlers,
  functions: [...SESSION_FUNCTIONS, ...SEND_FUNCTIONS, ...LARGE_OBJECT_FUNCTIONS],
  tableFunctions: SESSION_TABLE_FUNCTIONS,
  systemRelations: LARGE_OBJECT_RELATIONS,
  provide: () => {
    provideCapability(SESSION, (statement) => {
      const client = statement.client.standsFor ?? statement.client;
      return client instanceof WireClient ? client.actionsFor(statement) : requestActions(statement);
    });
    provideCapability(LARGE_OBJECTS, descriptorsOf);
  },
  part: WIRE_SESSIONS,
} satisfies Feature;
