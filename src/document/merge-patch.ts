/** JSON merge patch (RFC 7386): what PATCH, and PUT with `merge`, do to a document. */

import { setMember } from "../values/json-text.js";

export type JsonObject = { readonly [name: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The target with the patch's members in place of its own; null removes a member, objects are merged likewise. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const members = isObject(target) ? copyOf(target) : {};
  for (const name of Object.keys(patch)) {
    const value = patch[name];
    if (value === null) delete members[name];
    else setMember(members, name, mergePatch(Object.hasOwn(members, name) ? members[name] : undefined, value));
  }
  return members;
}

/** Key by key: a list of all entries takes several times as long for an object of thousands of keys. */
function copyOf(object: JsonObject): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(object)) setMember(copy, name, object[name]);
  return copy;
}
