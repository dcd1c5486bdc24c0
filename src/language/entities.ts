/**
 * Finds names in an English text, with their places: persons, organizations and places by tagged words
 * (graph/extract); addresses, amounts and percentages by patterns. It takes long for long texts, so a task thread runs
 * it.
 */
import { chunksOf, type NounChunk } from "../graph/extract/chunks.js";
import { taggedSentences } from "../graph/extract/tagged-text.js";

export type EntityKind =
  | "PERSON"
  | "ORGANIZATION"
  | "LOCATION"
  | "DATE"
  | "MONEY"
  | "PERCENT"
  | "EMAIL"
  | "URL"
  | "PHONE"
  | "MISC";

export interface Entity {
  readonly text: string;
  readonly type: EntityKind;
  /** UTF-16 code units, as in `text.slice(start, end)`. */
  readonly start: number;
  readonly end: number;
  /** 0 to 1. */
  readonly confidence: number;
}

const NUMBER = String.raw`\d[\d,]*(?:\.\d+)?`;
const SCALE = String.raw`(?:\s?(?:thousand|million|billion|trillion|bn|[kKmM])\b)?`;

/** First ones win where two overlap. */
const PATTERNS: readonly (readonly [EntityKind, RegExp])[] = [
  ["URL", /\bhttps?:\/\/[^\s<>"')\]]+[^\s<>"')\].,;:!?]/g],
  ["EMAIL", /\b[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu],
  [
    "MONEY",
    new RegExp(
      String.raw`[$€£¥]\s?${NUMBER}${SCALE}|\b${NUMBER}${SCALE}\s(?:dollars|euros|pounds|yen|cents|USD|EUR|GBP)\b`,
      "g",
    ),
  ],
  ["PERCENT", new RegExp(String.raw`\b${NUMBER}\s?(?:%|percent\b|per cent\b)`, "g")],
  ["DATE", /\b\d{4}-\d{2}-\d{2}\b/g],
  ["PHONE", /(?<![\w.])\+?\(?\d{2,4}\)?[\s.-]\d{2,4}[\s.-]\d{2,5}(?:[\s.-]\d{2,5})?(?!\w)/g],
];

const KINDS: Readonly<Record<NounChunk["type"], EntityKind | null>> = {
  Person: "PERSON",
  Organization: "ORGANIZATION",
  Place: "LOCATION",
  Date: "DATE",
  Entity: "MISC",
  Concept: null,
};

/** In the order of the text; no two overlap. */
export function entitiesOf(text: string): Entity[] {
  const found: Entity[] = [];
  const add = (entity: Entity) => {
    if (!found.some(({ start, end }) => entity.start < end && start < entity.end)) found.push(entity);
  };
  for (const [type, pattern] of PATTERNS) {
    for (const { index, 0: match } of text.matchAll(pattern)) {
      add({ text: match, type, start: index, end: index + match.length, confidence: 0.95 });
    }
  }
  const named: Entity[] = [];
  for (const sentence of taggedSentences(text)) {
    for (const chunk of chunksOf(sentence, text)) {
      if (chunk.kind !== "noun") continue;
      const type = KINDS[chunk.type];
      const { start, end, confidence } = chunk;
      if (type !== null && end > start) named.push({ text: text.slice(start, end), type, start, end, confidence });
    }
  }
  // Names do not overlap each other.
  const patterned = [...found];
  const isFree = ({ start, end }: Entity) => !patterned.some((other) => start < other.end && other.start < end);
  found.push(...named.filter(isFree));
  return found.sort((a, b) => a.start - b.start);
}
