/** Rows that two states of a tenant's family have differently, with both values. Asked by branch-diff.ts. */
import type { Request } from "../../actor/request.js";
import { storageOf, type TableDef } from "../../catalog/table.js";
import { ofTenant } from "../../storage/history-keys.js";
import { prefixRange, rowPrefix, SPACE, storageIdOf } from "../../storage/keys.js";
import type { LayeredEngine } from "../../storage/layered-engine.js";
import { type Cursor, NO_ENTRIES, readSome } from "../../storage/store.js";
import type { ComparedTables, TablePair } from "./compared-tables.js";
import { cursorAt, keysBetween, type Meeting, type Point, valuesAt } from "./points.js";
import { type RowDifference, rowOf, sameBytes, shownName, shownRow, tablesOf } from "./row-changes.js";

export interface Comparison {
  readonly request: Pick<Request, "partition" | "yieldTurn">;
  readonly before: Point;
  readonly after: Point;
  /** Null: the states have nothing in common. */
  readonly meeting: Meeting | null;
  readonly tables: ComparedTables;
  /** Only these. */
  readonly isWanted: (table: TableDef) => boolean;
  /** A branch's origin, where it is asked for: whether it has by now what `after` has. */
  readonly origin: number | null;
}

/** An entry of a table that is not as it was; both keys are of `after`. */
interface Difference {
  readonly pair: TablePair;
  readonly key: Uint8Array;
  readonly base: Uint8Array | undefined;
  readonly theirs: Uint8Array | undefined;
}

/** First those of tables that have kept their places, in the order of their keys; then table by table. */
export async function* comparedRows(comparison: Comparison): AsyncIterable<RowDifference> {
  const pairs = comparison.tables.pairs.filter(({ before, after }) => comparison.isWanted((after ?? before)!));
  const inOrigin = originOf(comparison);
  for await (const some of inPlace(comparison, pairs)) yield* shown(some, inOrigin);
  for (const pair of pairs) {
    if (pair.isInPlace) continue;
    for await (const some of sideBySide(comparison, pair)) yield* shown(some, inOrigin);
  }
}

function* shown(differences: readonly Difference[], inOrigin: InOrigin): Iterable<RowDifference> {
  const known = inOrigin?.(differences);
  for (const [i, { pair, key, base, theirs }] of differences.entries()) {
    const { before, after } = pair;
    yield {
      ...{ table: (after ?? before)!, tableBefore: (before ?? after)!, key },
      ...(known !== undefined && { inOrigin: known[i]! }),
      before: before === null ? null : rowOf(before, base),
      after: after === null ? null : rowOf(after, theirs),
    };
  }
}

async function* inPlace(
  { request, before, after, meeting }: Comparison,
  pairs: readonly TablePair[],
): AsyncIterable<readonly Difference[]> {
  const places = new Map(pairs.filter((pair) => pair.isInPlace).map((pair) => [storageOf(pair.after!), pair]));
  if (meeting === null || places.size === 0) return;
  const layers = request.partition.shard.layers!;
  // One table has its rows in one place.
  const of = places.size === 1 ? rowPrefix(0, [...places.keys()][0]!).subarray(4) : Buffer.of(SPACE.rows);
  for await (const keys of keysBetween(layers, meeting, of, after.number, request.yieldTurn)) {
    const wanted = keys.filter((key) => places.has(storageIdOf(key)));
    const [bases, values] = [valuesAt(layers, before, wanted), valuesAt(layers, after, wanted)];
    yield wanted.flatMap((key, i) => {
      const [base, theirs] = [bases[i], values[i]];
      return sameBytes(base, theirs) ? [] : [{ pair: places.get(storageIdOf(key))!, key, base, theirs }];
    });
  }
}

/** Entries that are read of each side at a time. */
const ENTRIES_AT_ONCE = 48;

async function* sideBySide(comparison: Comparison, pair: TablePair): AsyncIterable<readonly Difference[]> {
  const { before, after } = comparison;
  const left = new Side(comparison, before, pair.before);
  const right = new Side(comparison, after, pair.after);
  const isSame = sameness(pair);
  const moved = (rest: Uint8Array) => {
    const table = (pair.after ?? pair.before)!;
    return Buffer.concat([rowPrefix(after.number, storageOf(table)), rest]);
  };
  try {
    for (;;) {
      while (left.isWanting || right.isWanting) {
        left.read();
        right.read();
        await comparison.request.yieldTurn();
      }
      if (left.first === null && right.first === null) return;
      const found: Difference[] = [];
      while (!left.isWanting && !right.isWanting && (left.first ?? right.first) !== null) {
        const order = orderOf(left.first, right.first);
        const rest = (order <= 0 ? left.first : right.first)!;
        const base = order <= 0 ? left.take() : undefined;
        const theirs = order >= 0 ? right.take() : undefined;
        if (!isSame(base, theirs)) found.push({ pair, key: moved(rest), base, theirs });
      }
      yield found;
    }
  } finally {
    left.close();
    right.close();
  }
}

/** Null comes last. */
function orderOf(a: Uint8Array | null, b: Uint8Array | null): number {
  if (a === null) return 1;
  return b === null ? -1 : Buffer.compare(a, b);
}

/** By bytes where the columns are the same, and else by what is shown: other columns may have other places. */
function sameness({ before, after }: TablePair) {
  const areAlike = JSON.stringify(before?.columns) === JSON.stringify(after?.columns);
  return (base: Uint8Array | undefined, theirs: Uint8Array | undefined): boolean => {
    if (before === null || after === null || base === undefined || theirs === undefined) return base === theirs;
    if (areAlike && sameBytes(base, theirs)) return true;
    const [row, other] = [shownRow(before, rowOf(before, base)), shownRow(after, rowOf(after, theirs))];
    return JSON.stringify(row) === JSON.stringify(other);
  };
}

/** The rows of a table at one of the states, by what comes after the table in their keys. */
class Side {
  private readonly cursor: Cursor | null;
  private readonly length: number;
  private entries = NO_ENTRIES;
  private at = 0;
  private isAtEnd: boolean;

  constructor({ request }: Comparison, point: Point, table: TableDef | null) {
    const prefix = table === null ? Buffer.alloc(0) : rowPrefix(point.number, storageOf(table));
    this.length = prefix.length;
    this.cursor = table === null ? null : cursorAt(request.partition.shard.layers!, point, prefixRange(prefix));
    this.isAtEnd = table === null;
  }

  get isWanting(): boolean {
    return !this.isAtEnd && this.at === this.entries.keys.length;
  }

  get first(): Uint8Array | null {
    return this.entries.keys[this.at]?.subarray(this.length) ?? null;
  }

  take(): Uint8Array {
    return this.entries.values[this.at++]!;
  }

  /** Nothing, where what has been read is not used up. */
  read(): void {
    if (!this.isWanting) return;
    // Null: it has stepped over much that does not count.
    const found = readSome(this.cursor!, ENTRIES_AT_ONCE);
    this.entries = found ?? NO_ENTRIES;
    this.at = 0;
    this.isAtEnd = found !== null && found.keys.length === 0;
  }

  close(): void {
    this.cursor?.close();
  }
}

type InOrigin = ((differences: readonly Difference[]) => readonly boolean[]) | null;

function originOf({ request: { partition }, tables, origin }: Comparison): InOrigin {
  if (origin === null) return null;
  const layers: LayeredEngine = partition.shard.layers!;
  const byId = new Map([...tablesOf(partition.tenant(origin)).values()].map((table) => [table.id, table]));
  /** Where the origin has the rows of a pair's table; null: it has no such table. */
  const places = new Map(
    tables.pairs.map((pair) => {
      const table = (pair.after ?? pair.before)!;
      const own = byId.get(table.id);
      const isIt = own !== undefined && shownName(own) === shownName(table);
      return [pair, isIt ? rowPrefix(origin, storageOf(own)) : null] as const;
    }),
  );
  return (differences) => {
    const keys = differences.map(({ pair, key }) => {
      const prefix = places.get(pair)!;
      return prefix === null ? null : Buffer.concat([prefix, key.subarray(prefix.length)]);
    });
    const found = layers.getMany(keys.filter((key) => key !== null).map((key) => ofTenant(key, origin)));
    let at = 0;
    return differences.map(({ theirs }, i) => sameBytes(keys[i] === null ? undefined : found[at++], theirs));
  };
}
