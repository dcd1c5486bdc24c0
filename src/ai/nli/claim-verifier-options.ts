/** How an actor verifies claims, from the configuration. Called by the actor, and by partitions without one. */

import type { Config } from "../../protocol/config.js";
import type { Models } from "../models.js";
import { modelRoots } from "../models-options.js";
import { findClaimBundles, type InstalledBundle } from "./claim-models.js";
import type { ClaimVerifierOptions } from "./claim-verifier.js";

/** `installed`: when the process started; null: what is there now. */
export function claimVerifierOptions(
  config: Config,
  models: Models,
  installed: readonly InstalledBundle[] | null = null,
  warn: ClaimVerifierOptions["warn"] = () => undefined,
): ClaimVerifierOptions {
  const roots = modelRoots(config);
  const { enabled, defaultModel } = config.nli;
  return {
    enabled,
    defaultModel,
    installed: installed ?? findClaimBundles(roots),
    roots,
    scorer: models,
    sumOf: (text) => models.sumNow(text),
    warn,
  };
}
