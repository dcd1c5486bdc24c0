/** JSON merge patch (RFC 7386): what PATCH, and PUT with `merge`, do to a document. */

export type JsonObject = { readonly [name: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The target with the patch's members in place of its own; null removes a member, objects are merged likewise. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const members = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name);
    else members.set(name, mergePatch(members.get(name), value));
  }
  // Not by assignment: a member may be called __proto__.
  return Object.fromEntries(members);
}
