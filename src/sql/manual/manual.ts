/**
 * The SQL manual: pages of statements, functions, operators, types and topics, found by name or by word. SQL reads it
 * as `SELECT * FROM sql_manual('topic')`, agents with the tool of the same name. Built once, when first asked for.
 */

import { recordRows, tableFn } from "../../query/expr/table-function.js";
import { recordOf, TEXT, type Value } from "../../values/values.js";
import { functionPages } from "./function-pages.js";
import type { ManualPage } from "./page.js";
import { STATEMENT_PAGES } from "./statement-pages.js";
import { TOPIC_PAGES } from "./topic-pages.js";

/** Pages that one question gives at most. */
const PAGES_MAX = 20;

interface Indexed {
  readonly page: ManualPage;
  /** Lower-case names that mean exactly this page. */
  readonly names: readonly string[];
  readonly text: string;
}

let index: readonly Indexed[] | null = null;

function indexed(page: ManualPage, names: readonly string[]): Indexed {
  return { page, names: names.map(normal), text: normal(`${page.title} ${page.syntax} ${page.description}`) };
}

const normal = (text: string) => text.toLowerCase().replace(/\s+/g, " ").trim();

function manual(): readonly Indexed[] {
  index ??= [
    ...Object.values(STATEMENT_PAGES).map(({ titles, syntax, description, example }) =>
      indexed({ title: titles[0]!, kind: "statement", syntax, description, example }, titles),
    ),
    ...TOPIC_PAGES.map((page) => indexed(page, [page.title])),
    ...functionPages().map((page) => indexed(page, page.kind === "type" ? page.syntax.split(" | ") : [page.title])),
  ];
  return index;
}

/**
 * Pages about a topic, the best first: those of this name; else those whose title begins with it, whose chapter or
 * title has it, whose text has all of its words. An empty topic gives the contents: a page per statement and topic.
 */
export function lookUpManual(topic: string): readonly ManualPage[] {
  const wanted = normal(topic);
  const all = manual();
  if (wanted === "") return all.filter(({ page }) => page.kind === "statement" || page.kind === "topic").map(toPage);
  const exact = all.filter(({ names }) => names.includes(wanted));
  if (exact.length > 0) return exact.map(toPage);
  const words = wanted.split(" ");
  const ranked = all
    .map((entry) => ({ entry, rank: rankOf(entry, wanted, words) }))
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => b.rank - a.rank);
  return ranked.slice(0, PAGES_MAX).map(({ entry }) => entry.page);
}

const toPage = ({ page }: Indexed) => page;

function rankOf({ page, names, text }: Indexed, wanted: string, words: readonly string[]): number {
  if (names.some((name) => name.startsWith(wanted))) return 4;
  if (names.some((name) => name.includes(wanted))) return 3;
  if (normal(page.description).startsWith(wanted)) return 2;
  return words.every((word) => text.includes(word)) ? 1 : 0;
}

const COLUMNS = ["title", "kind", "syntax", "description", "example"] as const;

/** `sql_manual(topic)`: a row per page. */
export const SQL_MANUAL = tableFn(
  "sql_manual",
  [TEXT],
  recordOf(COLUMNS.map((name) => ({ name, type: TEXT }))),
  (topic: string) => recordRows(lookUpManual(topic).map((page): Value[] => COLUMNS.map((column) => page[column]))),
);
