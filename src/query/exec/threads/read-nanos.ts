/**
 * About how long reading a segment takes, from measurements of one core: enough to tell reads that are worth a thread's
 * while from others. Sending a job to a thread and taking its result costs some hundred microseconds.
 */
import type { SentCondition } from "../../expr/sent-condition.js";
import type { TypeKey } from "../../expr/sent-form.js";
import type { CachedPages } from "../segments/stored/page-cache.js";
import { callNanos } from "./cheap-calls.js";
import type { SentRead } from "./read-threads.js";

/** Of one row. */
const ROW = 1;
/** Of one row and conjunct, one over numbers or another. */
const NUMBER_TEST = 3;
const OTHER_TEST = 16;
/** Of one row and call, key of a group or of an order. */
const CALL = 4;
const NUMBER_KEY = 12;
const OTHER_KEY = 40;
const SORT_KEY = 4;
const EXPRESSION = 10;
/** Of a value and of a byte of a page that is not in memory. */
const READ_VALUE = 4;
const READ_BYTE = 1;

const NUMBERS: ReadonlySet<string> = new Set([
  "int2",
  "int4",
  "int8",
  "float4",
  "float8",
  "date",
  "timestamp",
  "numeric",
]);

/** Nanoseconds of a segment with these pages. */
export function readNanos(read: SentRead): (pages: CachedPages) => number {
  const row = ROW + testNanos(read.filter) + goalNanos(read) + (callNanos(read) ?? 0);
  const key = keyThatIsEnough(read);
  const ids = key === null ? read.source : [read.source[key]!];
  return (pages) => {
    let nanos = pages.rows * row;
    for (const id of ids) {
      if (!pages.isRead(id)) nanos += pages.rows * READ_VALUE + pages.columnBytes(id) * READ_BYTE;
    }
    return nanos;
  };
}

/**
 * The slot of a number by which rows are ordered: without a condition, a scan that no thread helps looks at it in all
 * segments, and then reads the few that have one of the first rows. Null: it reads all columns.
 */
function keyThatIsEnough({ goal, filter, project, columns }: SentRead): number | null {
  if (goal.kind !== "topn" || filter !== null || project !== null) return null;
  const expr = goal.keys[0]?.expr;
  if (expr?.kind !== "column" || !NUMBERS.has(expr.type.name)) return null;
  const slot = columns.findIndex(({ id }) => id === expr.id);
  return slot < 0 ? null : slot;
}

function testNanos(filter: SentCondition | null): number {
  if (filter === null) return 0;
  if (filter.kind === "and") return filter.args.reduce((sum, arg) => sum + testNanos(arg), 0);
  const isSimple =
    filter.kind === "call" && filter.args.every(({ type, kind }) => kind !== "call" && NUMBERS.has(type.name));
  return isSimple ? NUMBER_TEST : OTHER_TEST;
}

function goalNanos({ goal, project, columns }: SentRead): number {
  const computed = project === null ? 0 : EXPRESSION * project.exprs.filter(({ kind }) => kind !== "column").length;
  switch (goal.kind) {
    case "aggregate":
      return computed + CALL * goal.calls.length + goal.groups.reduce((sum, key) => sum + keyNanos(key), 0);
    case "topn":
      return computed + SORT_KEY;
    case "distinct":
      return computed + (project?.columns ?? columns).reduce((sum, key) => sum + keyNanos(key), 0);
  }
}

const keyNanos = ({ type }: { readonly type: TypeKey }): number => (NUMBERS.has(type.name) ? NUMBER_KEY : OTHER_KEY);
