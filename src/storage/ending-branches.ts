/**
 * Branches whose end is committed; the engine may not know it yet. Told by features/branches/branch-life.ts; asked by
 * whoever finds a branch, and before each commit in one.
 */
import { DbError } from "../protocol/errors.js";
import type { Branch } from "./branch-list.js";
import type { LayeredEngine } from "./layered-engine.js";

/** Numbers of branches are between these; those of tenants stay below. */
export const FIRST_BRANCH = 2 ** 30;
export const LAST_BRANCH = 2 ** 31 - 1;

const ending = new WeakSet<Branch>();
/** The same by branch numbers, with the commits that end them. */
const ends = new WeakMap<Layers, Map<number, { readonly branch: Branch; readonly sequence: number }>>();

type Layers = Pick<LayeredEngine, "branchOf">;

export function isEnding(branch: Branch): boolean {
  return ending.has(branch);
}

/** `sequence`: of the commit that ends it. */
export function markEnding(layers: Layers, number: number, sequence: number): void {
  const branch = layers.branchOf(number)!;
  const known = ends.get(layers) ?? new Map<number, { readonly branch: Branch; readonly sequence: number }>();
  for (const [other, mark] of known) if (layers.branchOf(other) !== mark.branch) known.delete(other);
  ends.set(layers, known.set(number, { branch, sequence }));
  ending.add(branch);
}

/** The log did not take the commits from that one on: branches that they were to end go on. */
export function endsUndone(layers: Layers, first: number): void {
  for (const [number, { branch, sequence }] of ends.get(layers) ?? []) {
    if (sequence < first) continue;
    ends.get(layers)!.delete(number);
    ending.delete(branch);
  }
}

/** Throws not_found for the number of a branch that there is not, or not any more. Numbers of tenants are no matter. */
export function requireBranch(layers: Layers | null, number: number): void {
  if (number < FIRST_BRANCH) return;
  const branch = layers?.branchOf(number) ?? null;
  if (branch === null || isEnding(branch)) throw branchEnded();
}

export function branchEnded(): DbError {
  return new DbError("not_found", "The branch has ended meanwhile: it was deleted, or its time was over.", {
    hint: "What was written there is gone. Begin again in another branch.",
  });
}
