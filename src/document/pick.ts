/** The members of a document that dotted paths name, in their places. */
import { isObject, type JsonObject } from "./merge-patch.js";

export function pick(document: JsonObject, paths: readonly string[]): JsonObject {
  const wanted = new Map<string, string[] | null>();
  for (const path of paths) {
    const dot = path.indexOf(".");
    const name = dot < 0 ? path : path.slice(0, dot);
    const below = wanted.get(name);
    if (dot < 0) wanted.set(name, null);
    else if (below === undefined) wanted.set(name, [path.slice(dot + 1)]);
    else below?.push(path.slice(dot + 1));
  }
  const picked: [string, unknown][] = [];
  for (const [name, below] of wanted) {
    if (!Object.hasOwn(document, name)) continue;
    const value = document[name];
    if (below === null) picked.push([name, value]);
    else if (isObject(value)) picked.push([name, pick(value, below)]);
    else if (Array.isArray(value)) {
      picked.push([name, value.map((item) => (isObject(item) ? pick(item, below) : item))]);
    }
  }
  return Object.fromEntries(picked);
}
