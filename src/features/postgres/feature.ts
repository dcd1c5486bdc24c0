/** Sessions of PostgreSQL's protocol; its server is src/postgres. */
import type { Feature } from "../feature.js";
import { postgresHandlers } from "./postgres-routes.js";
import { WIRE_SESSIONS } from "./wire-sessions.js";

export const postgresFeature = {
  name: "postgres",
  handlers: postgresHandlers,
  part: WIRE_SESSIONS,
} satisfies Feature;
