/** Sessions of Bolt; its server is src/bolt. */
import { provideCapability } from "../../session/capabilities.js";
import type { Feature } from "../feature.js";
import { boltHandlers } from "./bolt-routes.js";
import { BOLT_SESSIONS } from "./bolt-sessions.js";
import { CALLING_SESSION, callingSession, SESSION_PROCEDURES } from "./session-procedures.js";
import { TRANSACTION_PROCEDURES, TRANSACTIONS, transactionsFor } from "./transaction-procedures.js";

export const boltFeature = {
  name: "bolt",
  handlers: boltHandlers,
  procedures: [...TRANSACTION_PROCEDURES, ...SESSION_PROCEDURES],
  provide: () => {
    provideCapability(TRANSACTIONS, transactionsFor);
    provideCapability(CALLING_SESSION, callingSession);
  },
  part: BOLT_SESSIONS,
} satisfies Feature;
