/** Functions and operators of the extension ltree: paths in a tree of labels, and patterns of them. */
import { sqlError } from "../../../protocol/errors.js";
import { compareText } from "../../../values/compare-text.js";
import { matchesLquery } from "../../../values/lquery.js";
import { checkedPath, countOfLabels, isBelow, labelsOf, ltreeFromText } from "../../../values/ltree.js";
import { matchesLtxtquery } from "../../../values/ltxtquery.js";
import {
  arrayOf,
  BOOL,
  INT4,
  LQUERY,
  LTREE,
  LTXTQUERY,
  type SqlArray,
  type SqlType,
  TEXT,
} from "../../../values/values.js";
import type { ScalarFunction } from "../expr.js";
import { COMPARISONS } from "./comparison.js";
import { fn, type OperatorFunction, op, operatorFunctions, taking } from "./define.js";

const PATHS = arrayOf(LTREE);
const QUERIES = arrayOf(LQUERY);
const LCA_ARGUMENTS_MAX = 8;

type Test = (path: string, what: string) => boolean;

const joined = (a: string, b: string) => checkedPath(a === "" || b === "" ? a + b : `${a}.${b}`, "levels");

/** Labels from `start` up to `end`. Throws 22023. */
function between(path: string, start: number, end: number): string {
  const labels = labelsOf(path);
  if (start < 0 || end < 0 || start >= labels.length || start > end) throw sqlError("22023", "invalid positions");
  return labels.slice(start, end).join(".");
}

/** Negative numbers count from the end. Null: all that follow. Throws 22023. */
function subpath(path: string, offset: number, length: number | null): string {
  const count = countOfLabels(path);
  // A start before the beginning counts from the end once more, as in PostgreSQL.
  let start = offset;
  for (let i = 0; i < 2 && start < 0; i++) start += count;
  if (length === null) return between(path, start, count);
  return between(path, start, length < 0 ? count + length : start + length);
}

/** Where `part` begins in the path; -1: nowhere. */
function indexOf(path: string, part: string, from: number): number {
  const [labels, wanted] = [labelsOf(path), labelsOf(part)];
  if (wanted.length === 0) return -1;
  const first = from < 0 ? Math.max(0, labels.length + from) : from;
  for (let at = first; at + wanted.length <= labels.length; at++) {
    if (wanted.every((label, i) => labels[at + i] === label)) return at;
  }
  return -1;
}

/** The longest path above all of them, which is none of them; null: there are none, or one has no label. */
function commonAncestor(paths: readonly string[]): string | null {
  if (paths.length === 0 || paths.includes("")) return null;
  const lists = paths.map(labelsOf);
  let count = Math.min(...lists.map(({ length }) => length)) - 1;
  for (const labels of lists) {
    let same = 0;
    while (same < count && labels[same] === lists[0]![same]) same++;
    count = same;
  }
  return lists[0]!.slice(0, count).join(".");
}

/** Throws 2202E, 22004. */
function pathsIn({ elements, dimensions }: SqlArray): readonly string[] {
  if (dimensions.length > 1) throw sqlError("2202E", "array must be one-dimensional");
  if (elements.includes(null)) throw sqlError("22004", "array must not contain nulls");
  return elements as readonly string[];
}

const isAbove: Test = (path, other) => isBelow(other, path);
const matches: Test = (path, query) => matchesLquery(labelsOf(path), query);
const hasWords: Test = (path, query) => matchesLtxtquery(labelsOf(path), query);

function matchesSome(path: string, queries: SqlArray): boolean {
  const labels = labelsOf(path);
  return pathsIn(queries).some((query) => matchesLquery(labels, query));
}

/**
 * Of the path or of one in an array, and the other way round; with `^` the index is left aside, which changes no
 * answer.
 */
function tests(symbol: string, what: SqlType, test: Test, flipped = symbol): ScalarFunction[] {
  const some = (paths: SqlArray, other: string) => pathsIn(paths).some((path) => test(path, other));
  return ["", "^"].flatMap((mark) => [
    op(mark + symbol, [LTREE, what], BOOL, test),
    op(mark + symbol, [PATHS, what], BOOL, some),
    ...(what === LTREE ? [] : [op(mark + flipped, [what, LTREE], BOOL, (a: string, b: string) => test(b, a))]),
    op(mark + flipped, [what, PATHS], BOOL, (a: string, b: SqlArray) => some(b, a)),
  ]);
}

function testsOfSome(): ScalarFunction[] {
  const some = (paths: SqlArray, queries: SqlArray) => pathsIn(paths).some((path) => matchesSome(path, queries));
  return ["?", "^?"].flatMap((symbol) => [
    op(symbol, [LTREE, QUERIES], BOOL, matchesSome),
    op(symbol, [PATHS, QUERIES], BOOL, some),
    op(symbol, [QUERIES, LTREE], BOOL, (queries: SqlArray, path: string) => matchesSome(path, queries)),
    op(symbol, [QUERIES, PATHS], BOOL, (queries: SqlArray, paths: SqlArray) => some(paths, queries)),
  ]);
}

/** The first path of an array for which it holds. */
function first(symbol: string, what: SqlType, test: Test): ScalarFunction {
  const found = (paths: SqlArray, other: string) => pathsIn(paths).find((path) => test(path, other)) ?? null;
  return op(symbol, [PATHS, what], LTREE, found);
}

const NANOS = 60;
/** Each level of the pattern looks at each label. */
const PATTERN_NANOS = 600;

export const LTREE_OPERATORS: readonly ScalarFunction[] = [
  ...taking(NANOS, [
    ...tests("<@", LTREE, isBelow, "@>"),
    ...tests("@>", LTREE, isAbove, "<@"),
    op("||", [LTREE, LTREE], LTREE, joined),
    op("||", [LTREE, TEXT], LTREE, (path: string, text: string) => joined(path, ltreeFromText(text))),
    op("||", [TEXT, LTREE], LTREE, (text: string, path: string) => joined(ltreeFromText(text), path)),
    first("?@>", LTREE, isAbove),
    first("?<@", LTREE, isBelow),
  ]),
  ...taking(PATTERN_NANOS, [
    ...tests("~", LQUERY, matches),
    ...tests("@", LTXTQUERY, hasWords),
    ...testsOfSome(),
    first("?~", LQUERY, matches),
    first("?@", LTXTQUERY, hasWords),
  ]),
];

/** Names of what the operators call; those of arrays begin with an underscore. */
const BEHIND: readonly OperatorFunction[] = [
  ["ltree_addltree", "||", LTREE, LTREE],
  ["ltree_addtext", "||", LTREE, TEXT],
  ["ltree_textadd", "||", TEXT, LTREE],
  ["ltree_isparent", "@>", LTREE, LTREE],
  ["ltree_risparent", "<@", LTREE, LTREE],
  ["_ltree_isparent", "@>", PATHS, LTREE],
  ["_ltree_r_isparent", "<@", LTREE, PATHS],
  ["_ltree_risparent", "<@", PATHS, LTREE],
  ["_ltree_r_risparent", "@>", LTREE, PATHS],
  ["_ltree_extract_isparent", "?@>", PATHS, LTREE],
  ["_ltree_extract_risparent", "?<@", PATHS, LTREE],
  ["ltq_regex", "~", LTREE, LQUERY],
  ["ltq_rregex", "~", LQUERY, LTREE],
  ["_ltq_regex", "~", PATHS, LQUERY],
  ["_ltq_rregex", "~", LQUERY, PATHS],
  ["_ltq_extract_regex", "?~", PATHS, LQUERY],
  ["lt_q_regex", "?", LTREE, QUERIES],
  ["lt_q_rregex", "?", QUERIES, LTREE],
  ["_lt_q_regex", "?", PATHS, QUERIES],
  ["_lt_q_rregex", "?", QUERIES, PATHS],
  ["ltxtq_exec", "@", LTREE, LTXTQUERY],
  ["ltxtq_rexec", "@", LTXTQUERY, LTREE],
  ["_ltxtq_exec", "@", PATHS, LTXTQUERY],
  ["_ltxtq_rexec", "@", LTXTQUERY, PATHS],
  ["_ltxtq_extract_exec", "?@", PATHS, LTXTQUERY],
];

const COMPARED = { eq: "=", ne: "<>", lt: "<", le: "<=", gt: ">", ge: ">=" };

export const LTREE_FUNCTIONS: readonly ScalarFunction[] = taking(NANOS, [
  ...operatorFunctions(LTREE_OPERATORS, BEHIND),
  ...operatorFunctions(
    COMPARISONS,
    Object.entries(COMPARED).map(([name, symbol]) => [`ltree_${name}`, symbol, LTREE, LTREE] as const),
  ),
  fn("ltree_cmp", [LTREE, LTREE], INT4, compareText),
  fn("subltree", [LTREE, INT4, INT4], LTREE, between),
  fn("subpath", [LTREE, INT4, INT4], LTREE, subpath),
  fn("subpath", [LTREE, INT4], LTREE, (path: string, offset: number) => subpath(path, offset, null)),
  fn("nlevel", [LTREE], INT4, countOfLabels),
  fn("index", [LTREE, LTREE], INT4, (path: string, part: string) => indexOf(path, part, 0)),
  fn("index", [LTREE, LTREE, INT4], INT4, indexOf),
  fn("text2ltree", [TEXT], LTREE, ltreeFromText),
  fn("ltree2text", [LTREE], TEXT, (path: string) => path),
  fn("lca", [PATHS], LTREE, (paths: SqlArray) => commonAncestor(pathsIn(paths))),
  ...Array.from({ length: LCA_ARGUMENTS_MAX - 1 }, (_, i) =>
    fn("lca", new Array<SqlType>(i + 2).fill(LTREE), LTREE, (...paths: string[]) => commonAncestor(paths)),
  ),
]);
