/** Verification of claims. */

import { CLAIMS } from "../../query/expr/functions/claims.js";
import { provideCapability } from "../../session/capabilities.js";
import type { Feature } from "../feature.js";
import { statementClaims } from "./claim-functions.js";
import { nliHandlers } from "./claim-routes.js";

export const claimsFeature = {
  name: "claims",
  handlers: nliHandlers,
  provide: () => provideCapability(CLAIMS, statementClaims),
} satisfies Feature;
