/** Labels of a node as the column `labels` has them: see LABEL_MARK. */
import { LABEL_MARK } from "./variant.js";

export function encodeLabels(labels: Iterable<string>): string {
  const sorted = [...new Set(labels)].sort();
  return sorted.length === 0 ? "" : LABEL_MARK + sorted.join(LABEL_MARK) + LABEL_MARK;
}

/** In code unit order. */
export function decodeLabels(text: string): readonly string[] {
  return text === "" ? NO_LABELS : text.slice(1, -1).split(LABEL_MARK);
}

export function includesLabel(text: string, label: string): boolean {
  return text.includes(LABEL_MARK + label + LABEL_MARK);
}

const NO_LABELS: readonly string[] = Object.freeze([]);
