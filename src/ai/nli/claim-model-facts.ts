/** Facts about the models of claims for clients: GET /v1/ai/nli/models. Called by claim-verifier.ts; pure. */
import { NLI_WINDOW_TOKENS } from "../../protocol/limits.js";
import type { FoundBundle } from "../bundle.js";
import type { KnownClaimModel } from "./claim-models.js";
import { NLI_LABELS } from "./labels.js";

/** `installed`: nobody has asked for it yet. Only `ready` ones answer; a request waits while its model is `loading`. */
export type ClaimModelState = "ready" | "missing" | "failed" | "loading" | "installed";

export interface ClaimModelFacts {
  readonly model: string;
  readonly state: ClaimModelState;
  readonly identity: {
    readonly alias: string;
    readonly id: string;
    readonly repository: string | null;
    readonly revision: string | null;
    readonly license: string | null;
    readonly bundle_sha256: string | null;
    readonly labels: readonly string[];
    readonly max_length: number;
    readonly bytes: number | null;
    readonly required_capabilities: readonly string[];
  };
  /** Null: not loaded yet. */
  readonly loaded_bundle_sha256: string | null;
  /** Why it failed. */
  readonly problem: string | null;
}

export interface ClaimModelsFacts {
  readonly enabled: boolean;
  readonly default_model: string;
  readonly restart_required_for_new_installs: boolean;
  readonly models: readonly ClaimModelFacts[];
}

/** A model whose bundle was installed at the start. */
export interface LoadableModel {
  readonly names: readonly string[];
  readonly bundle: FoundBundle;
  state: Exclude<ClaimModelState, "missing">;
  problem: string | null;
  loadedDigest: string | null;
}

export function factsOf(name: string, { bundle, state, problem, loadedDigest }: LoadableModel): ClaimModelFacts {
  const { manifest, digest } = bundle;
  return {
    model: name,
    state,
    identity: {
      alias: name,
      id: manifest?.id ?? name,
      repository: manifest?.repository ?? null,
      revision: manifest?.revision ?? null,
      license: manifest?.licence ?? null,
      bundle_sha256: digest,
      labels: NLI_LABELS,
      max_length: Math.min(manifest?.max_length ?? NLI_WINDOW_TOKENS, NLI_WINDOW_TOKENS),
      bytes: manifest?.files.reduce((sum, file) => sum + file.bytes, 0) ?? null,
      required_capabilities: manifest?.required_capabilities ?? [],
    },
    loaded_bundle_sha256: loadedDigest,
    problem,
  };
}

export function factsOfMissing(name: string, { names, repository, licence }: KnownClaimModel): ClaimModelFacts {
  return {
    model: name,
    state: "missing",
    identity: {
      alias: name,
      id: names.at(-1)!,
      repository,
      revision: null,
      license: licence,
      bundle_sha256: null,
      labels: NLI_LABELS,
      max_length: NLI_WINDOW_TOKENS,
      bytes: null,
      required_capabilities: ["nli"],
    },
    loaded_bundle_sha256: null,
    problem: null,
  };
}
