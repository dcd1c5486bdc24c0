/**
 * ltree, the path of a node in a tree of labels: `Top.Science.Astronomy`. The value is the text. Paths have the order
 * of their texts, because the dot comes before all characters of labels. Called by the formats and the functions of
 * expressions; lquery.ts and ltxtquery.ts have the patterns.
 */
import { sqlError } from "../protocol/errors.js";

export const LTREE_LABELS_MAX = 65_535;
export const LABEL_CHARACTERS_MAX = 255;

const LABEL_CHARACTER = /[\p{L}\p{M}\p{Nd}_]/u;
const ASCII_LABELS = /^[A-Za-z0-9_]{1,255}(?:\.[A-Za-z0-9_]{1,255})*$/;

export const isLabelCharacter = (character: string): boolean => LABEL_CHARACTER.test(character);

/** Of a path; the empty one has none. */
export const labelsOf = (path: string): readonly string[] => (path === "" ? [] : path.split("."));

export const countOfLabels = (path: string): number => {
  if (path === "") return 0;
  let count = 1;
  for (let at = path.indexOf("."); at !== -1; at = path.indexOf(".", at + 1)) count++;
  return count;
};

/** Throws 54000 for too many labels; `called`: as the message calls them. */
export function checkedPath(path: string, called: "labels" | "levels" = "labels"): string {
  const count = countOfLabels(path);
  if (count <= LTREE_LABELS_MAX) return path;
  throw sqlError("54000", `number of ltree ${called} (${count}) exceeds the maximum allowed (${LTREE_LABELS_MAX})`);
}

/** `end`: the characters up to its end, counted from 1. Throws 42622. */
export function checkLabel(length: number, end: number): void {
  if (length <= LABEL_CHARACTERS_MAX) return;
  throw sqlError("42622", "label string is too long", {
    detail: `Label length is ${length}, must be at most ${LABEL_CHARACTERS_MAX}, at character ${end}.`,
  });
}

/** Throws 42601, 42622, 54000. */
export function ltreeFromText(text: string): string {
  if (text === "") return "";
  checkedPath(text);
  if (ASCII_LABELS.test(text)) return text;
  const characters = [...text];
  let length = 0;
  for (const [i, character] of characters.entries()) {
    if (isLabelCharacter(character)) {
      length++;
      continue;
    }
    if (character !== "." || length === 0) throw sqlError("42601", `ltree syntax error at character ${i + 1}`);
    checkLabel(length, i + 1);
    length = 0;
  }
  if (length === 0) throw sqlError("42601", "ltree syntax error", { detail: "Unexpected end of input." });
  checkLabel(length, characters.length + 1);
  return text;
}

/** Whether `path` is `ancestor` or below it. */
export function isBelow(path: string, ancestor: string): boolean {
  if (ancestor === "") return true;
  return path.startsWith(ancestor) && (path.length === ancestor.length || path[ancestor.length] === ".");
}
