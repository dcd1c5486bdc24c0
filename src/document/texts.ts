/** Texts of a document that a search may mark, with their paths. */
import type { JsonObject } from "./merge-patch.js";

/** Texts of one document. */
const TEXTS_MAX = 200;

export interface DocumentText {
  /** "title", "address.city", "tags[1]". */
  readonly path: string;
  readonly text: string;
}

/** Of these fields; null: all there are, however deep. */
export function textsOf(document: JsonObject, fields: readonly string[] | null): DocumentText[] {
  const found: DocumentText[] = [];
  if (fields === null) {
    const { id: _, ...content } = document;
    collect(content, "", found);
    return found;
  }
  for (const path of fields) {
    const text = Object.hasOwn(document, path) ? document[path] : undefined;
    if (typeof text === "string") found.push({ path, text });
  }
  return found;
}

function collect(value: unknown, path: string, found: DocumentText[]): void {
  if (found.length >= TEXTS_MAX) return;
  if (typeof value === "string") found.push({ path, text: value });
  else if (Array.isArray(value)) {
    for (let i = 0; i < value.length && found.length < TEXTS_MAX; i++) collect(value[i], `${path}[${i}]`, found);
  } else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) collect(member, path === "" ? name : `${path}.${name}`, found);
  }
}
