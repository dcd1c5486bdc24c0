/**
 * The models of claims: the bundles that were installed when the process started, by their names, and known names
 * without a bundle. Called by claim-verifier.ts and, once, when the process starts (serve.ts); holds no state.
 */
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type FoundBundle, findBundle, findBundles } from "../bundle.js";
import { KNOWN_MODELS } from "../library/known-models.js";
import { isModelName } from "./claim-requests.js";

/** A bundle, as it was found at the start: what threads tell each other. */
export interface InstalledBundle {
  readonly directory: string;
  readonly digest: string;
}

export interface ClaimModel {
  /** That requests may use. */
  readonly names: readonly string[];
  readonly bundle: FoundBundle;
}

/** A model that can be pulled, or comes with the program. */
export interface KnownClaimModel {
  readonly names: readonly string[];
  readonly repository: string | null;
  readonly licence: string;
}

/** Those that can be pulled, and the one that comes with the program. */
export const KNOWN_CLAIM_MODELS: readonly KnownClaimModel[] = [
  ...KNOWN_MODELS.filter(({ kind }) => kind === "nli").map(({ name, alias, licence, tags }) => ({
    names: alias === undefined ? [name] : [alias, name],
    repository: tags.latest?.repository ?? null,
    licence,
  })),
  { names: ["nli-mini"], repository: null, licence: "CC-BY-SA-4.0" },
];

/** Bundles of models of claims, of two with the same name the one in the earlier root. */
export function findClaimBundles(roots: readonly string[]): InstalledBundle[] {
  return claimModels(roots.flatMap(findBundles)).map(({ bundle: { directory, digest } }) => ({ directory, digest }));
}

/**
 * The bundles that were installed at the start, in their current state; a bundle that was removed or replaced since
 * cannot be used.
 */
export function installedClaimModels(installed: readonly InstalledBundle[]): ClaimModel[] {
  return claimModels(installed.map(asItWas));
}

function asItWas({ directory, digest }: InstalledBundle): FoundBundle {
  const found = findBundle(directory);
  if (found === null)
    return { directory, manifest: null, digest, problem: "it was removed after the server started", pulled: null };
  if (found.digest === digest) return found;
  return { ...found, digest, problem: "it was replaced after the server started" };
}

function claimModels(bundles: readonly FoundBundle[]): ClaimModel[] {
  const models: ClaimModel[] = [];
  const taken = new Set<string>();
  for (const bundle of bundles) {
    const names = namesOf(bundle).filter((name) => isModelName(name) && !taken.has(name));
    for (const name of names) taken.add(name);
    if (names.length > 0) models.push({ names, bundle });
  }
  return models;
}

/** Of a bundle of another kind, none. */
function namesOf({ directory, manifest }: FoundBundle): string[] {
  if (manifest === null) return namesOfBroken(directory);
  if (manifest.kind !== "nli") return [];
  return manifest.alias === undefined ? [manifest.id] : [manifest.alias, manifest.id];
}

/** A manifest that is none may still tell whose it was; otherwise its folder may. */
function namesOfBroken(directory: string): string[] {
  const folder = basename(directory);
  try {
    const { kind, id, alias } = JSON.parse(readFileSync(join(directory, "manifest.json"), "utf8")) as {
      readonly [key: string]: unknown;
    };
    if (kind === "nli") return [alias, id, folder].filter((name) => typeof name === "string");
    if (typeof kind === "string") return [];
  } catch {
    // Not JSON, or not there any more.
  }
  return KNOWN_CLAIM_MODELS.some(({ names }) => names.includes(folder)) ? [folder] : [];
}
