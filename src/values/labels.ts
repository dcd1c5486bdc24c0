/** Labels of a node as the column `labels` has them: see LABEL_MARK. */
import { cypherError } from "./cypher-error.js";
import { DELETED_MARK, LABEL_MARK } from "./variant.js";

const NO_LABELS: readonly string[] = Object.freeze([]);
/** Lists of labels by the column's text, which few nodes do not share. */
const LISTS_MAX = 1000;
const lists = new Map<string, readonly string[]>();

const MARKS = new RegExp(`[${DELETED_MARK}${LABEL_MARK}]`);

/** A label or a type that is to be stored. Throws an ArgumentError for a character that separates labels. */
export function storableName(name: string): string {
  if (!MARKS.test(name)) return name;
  const shown = JSON.stringify(name.slice(0, 100));
  const message = `a label or a type holds neither U+0000 nor U+001F, and ${shown} does`;
  throw cypherError("ArgumentError", "InvalidArgumentValue", message);
}

/** Throws an ArgumentError. */
export function encodeLabels(labels: Iterable<string>): string {
  const sorted = [...new Set(labels)].sort();
  for (const label of sorted) storableName(label);
  return sorted.length === 0 ? "" : LABEL_MARK + sorted.join(LABEL_MARK) + LABEL_MARK;
}

/** In code unit order; not to be changed. Of a node that is deleted DELETED_MARK alone. */
export function decodeLabels(text: string): readonly string[] {
  if (text === "") return NO_LABELS;
  let labels = lists.get(text);
  if (labels === undefined) {
    labels = Object.freeze(text === DELETED_MARK ? [DELETED_MARK] : text.slice(1, -1).split(LABEL_MARK));
    if (lists.size >= LISTS_MAX) lists.clear();
    lists.set(text, labels);
  }
  return labels;
}

export function includesLabel(text: string, label: string): boolean {
  const at = text.indexOf(label);
  if (at < 1) return false;
  if (text[at - 1] === LABEL_MARK && text[at + label.length] === LABEL_MARK) return true;
  return text.includes(LABEL_MARK + label + LABEL_MARK, at);
}
