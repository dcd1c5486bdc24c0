/**
 * Columns that a question may mean as well as those that its SQL reads: the regions of clients and of brokers, the days
 * on which a claim occurred and was reported. `column-finder.ts` notes them, `match-question.ts` makes readings.
 */
import { wordsOfName } from "./bare-names.js";
import type { Aggregate, AggregateFn, GroupKey, QueryShape } from "./query-shape.js";
import { stemOf } from "./question.js";
import type { ColumnFacts, ColumnRef, TableFacts } from "./schema-facts.js";

const stems = (words: string) => new Set(words.split(" ").map(stemOf));
/** When a thing comes into being, or is written down. */
const BEGINNINGS = stems(
  "created placed ordered booked registered recorded added logged entered inserted made signup joined hired opened raised " +
    "requested issued submitted filed posted sent initiated",
);
/** What comes later, if at all. */
const LATER = stems(
  "end ended ending until due paid closed returned settled delivered expires expiry expired valid updated modified changed " +
    "departed finished completed resolved fixed cancelled deleted archived harvested removed shipped received approved " +
    "picked dropped filled checkout closes left retired last next review reviewed out to cleared acknowledged answered confirmed stopped " +
    "behoben bezahlt geliefert gekuendigt storniert ende faellig",
);

export class RivalColumns {
  private readonly others = new Map<ColumnFacts, readonly ColumnRef[]>();

  note(chosen: ColumnRef, others: readonly ColumnRef[]): void {
    const rivals = others.filter(({ column }) => column !== chosen.column);
    if (rivals.length > 0) this.others.set(chosen.column, rivals);
  }

  /** Shapes that read a rival instead, with what that would mean; empty: the shape reads no column that has one. */
  readings(shape: QueryShape): Reading[] {
    for (const [column, rivals] of this.others) {
      const own = refIn(shape, column);
      if (own === null) continue;
      return [own, ...rivals].map((ref) => ({
        meaning: `${ref.column.name} of ${ref.table.name}`,
        shape: ref === own ? shape : withColumn(shape, column, ref),
      }));
    }
    return [];
  }
}

export interface Reading {
  readonly meaning: string;
  readonly shape: QueryShape;
}

/** A shape for each function that its only aggregate may be. */
export function readingsOf(shape: QueryShape, fns: readonly AggregateFn[]): Reading[] {
  const [only] = shape.aggregates;
  if (only === undefined || only.fn === "count" || only.fn === "share" || only.fn === "rate") return [];
  const { ref } = only;
  return fns.map((fn) => ({ meaning: `${fn} of ${ref.column.name}`, shape: { ...shape, aggregates: [{ fn, ref }] } }));
}

/** A shape for each table that what there are most of may be rows of. */
export function rankingsOf(shape: QueryShape, tables: readonly TableFacts[]): Reading[] {
  return tables.map((table) => ({
    meaning: `number of rows of ${table.name}`,
    shape: { ...shape, ranking: { table, descending: shape.ranking!.descending } },
  }));
}

/** Of several dates of a row those that "per month" may mean; one where its name says that it is the row's own. */
export function likelyTimes(times: readonly ColumnRef[]): readonly ColumnRef[] {
  const said = ({ column }: ColumnRef, words: ReadonlySet<string>) =>
    wordsOfName(column.name).some((word) => words.has(stemOf(word)));
  // "invoice_date" of invoices, "donated_at" of donations.
  const isOwn = (ref: ColumnRef) =>
    said(ref, BEGINNINGS) ||
    wordsOfName(ref.column.name).some((word) =>
      wordsOfName(ref.table.name).some((part) => word.length >= 3 && part.slice(0, 4) === word.slice(0, 4)),
    );
  const own = times.filter(isOwn);
  if (own.length > 0) return own.slice(0, 1);
  const first = times.filter((ref) => !said(ref, LATER));
  const likely = first.length > 0 ? first : times;
  // Each row has the day on which it began; others come later, if at all.
  const certain = likely.filter(({ column }) => !column.nullable);
  return certain.length === 1 ? certain : likely;
}

function refIn(
  { groups, filters, columns, order, aggregates, firstOfEach }: QueryShape,
  column: ColumnFacts,
): ColumnRef | null {
  const refs = [
    ...[...groups, ...(firstOfEach?.groups ?? [])].flatMap((group) => (group.kind === "table" ? [] : [group.ref])),
    ...filters.map(({ ref }) => ref),
    ...columns,
    ...(order?.ref == null ? [] : [order.ref]),
    ...(firstOfEach === null ? [] : [firstOfEach.ref]),
    ...aggregates.flatMap((each) => ("ref" in each && each.ref !== null ? [each.ref] : [])),
  ];
  return refs.find((ref) => ref.column === column) ?? null;
}

function withColumn(shape: QueryShape, column: ColumnFacts, to: ColumnRef): QueryShape {
  const swapped = (ref: ColumnRef) => (ref.column === column ? to : ref);
  const group = (key: GroupKey): GroupKey => (key.kind === "table" ? key : { ...key, ref: swapped(key.ref) });
  const aggregate = (each: Aggregate): Aggregate =>
    "ref" in each && each.ref !== null ? ({ ...each, ref: swapped(each.ref) } as Aggregate) : each;
  const { order, firstOfEach } = shape;
  return {
    ...shape,
    columns: shape.columns.map(swapped),
    groups: shape.groups.map(group),
    filters: shape.filters.map((filter) => ({ ...filter, ref: swapped(filter.ref) })),
    aggregates: shape.aggregates.map(aggregate),
    order: order?.ref == null ? order : { ...order, ref: swapped(order.ref) },
    firstOfEach:
      firstOfEach === null
        ? null
        : { ...firstOfEach, ref: swapped(firstOfEach.ref), groups: firstOfEach.groups.map(group) },
  };
}
