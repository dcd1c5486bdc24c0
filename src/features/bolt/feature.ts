/** Sessions of Bolt; its server is src/bolt. */
import type { Feature } from "../feature.js";
import { boltHandlers } from "./bolt-routes.js";
import { BOLT_SESSIONS } from "./bolt-sessions.js";

export const boltFeature = {
  name: "bolt",
  handlers: boltHandlers,
  part: BOLT_SESSIONS,
} satisfies Feature;
