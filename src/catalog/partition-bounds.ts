/**
 * The bounds of a partitioned table's partitions, prepared for finding the partition of a row. Definition statements
 * ask it for overlaps, writers of rows for the partition, the optimizer for the partitions that a condition leaves.
 * Made once per definition of the partitioned table, which changes whenever a partition is added or removed.
 *
 * Bounds and rows are compared as keys of storage (key-codec.ts), whose bytes are in the values' order. A range bound
 * is the key of its values, with one byte above any key's for MAXVALUE and nothing for MINVALUE, so it compares with
 * the key of a whole row by its bytes. A row is in a range when from ≤ key < to.
 */

import { encodeKey, isKeyType, type KeyColumn } from "../storage/key-codec.js";
import { fromText } from "../values/text-format.js";
import type { SqlType, Value } from "../values/values.js";
import { partitionHash } from "./partition-hash.js";
import type { PartitionBoundDef, PartitionKeyDef, PartitionRangeDatum, TableDef } from "./table.js";

/** Above the marker byte of any key column. */
const ABOVE_ALL = Buffer.of(0xff);
const NO_PREFIX = new Uint8Array(0);

export interface BoundedPartition {
  readonly id: number;
  readonly bound: PartitionBoundDef;
}

export interface RangePartition {
  readonly id: number;
  readonly from: Buffer;
  readonly to: Buffer;
}

/** Whether values of the type have an order, so that they can be parts of a key. */
export function isOrdered(type: SqlType): boolean {
  return isKeyType(type);
}

/** Types of the key's parts. */
export function partitionKeyTypes(table: TableDef): SqlType[] {
  return table.partitionKey!.keys.map(
    ({ columnId, expression }) => expression?.type ?? table.columns.find(({ id }) => id === columnId)!.type,
  );
}

export class PartitionBounds {
  readonly strategy: PartitionKeyDef["strategy"];
  readonly types: readonly SqlType[];
  /** Of a range strategy, in order. */
  readonly ranges: readonly RangePartition[];
  /** Of a list strategy: the partition of each value, by its key's bytes as latin-1 text. */
  readonly lists: ReadonlyMap<string, number>;
  /** The partition that a list has NULL in. */
  readonly nulls: number | null;
  readonly hashes: readonly { readonly id: number; readonly modulus: number; readonly remainder: number }[];
  /** The DEFAULT partition. */
  readonly fallback: number | null;
  private readonly columns: readonly KeyColumn[];
  /** The partition of each remainder of the greatest modulus. */
  private readonly remainders: readonly (number | null)[];

  constructor(
    strategy: PartitionKeyDef["strategy"],
    types: readonly SqlType[],
    partitions: readonly BoundedPartition[],
  ) {
    this.strategy = strategy;
    this.types = types;
    this.columns = types.map((type) => ({ type, descending: false, nullsFirst: false }));
    const ranges: RangePartition[] = [];
    const lists = new Map<string, number>();
    const hashes: { id: number; modulus: number; remainder: number }[] = [];
    let nulls: number | null = null;
    let fallback: number | null = null;
    for (const { id, bound } of partitions) {
      switch (bound.kind) {
        case "default":
          fallback = id;
          break;
        case "range":
          ranges.push({ id, from: this.rangeKey(bound.from), to: this.rangeKey(bound.to) });
          break;
        case "list":
          for (const value of bound.values) {
            if (value === null) nulls = id;
            else lists.set(this.listKey(value), id);
          }
          break;
        case "hash":
          hashes.push({ id, modulus: bound.modulus, remainder: bound.remainder });
      }
    }
    this.ranges = ranges.sort((left, right) => left.from.compare(right.from));
    this.lists = lists;
    this.hashes = hashes.sort((left, right) => left.modulus - right.modulus || left.remainder - right.remainder);
    this.nulls = nulls;
    this.fallback = fallback;
    this.remainders = byRemainder(this.hashes);
  }

  /** The partition of a row with these values of the key; null: none has it. */
  find(values: readonly Value[]): number | null {
    switch (this.strategy) {
      case "range":
        return values.includes(null) ? this.fallback : (this.inRange(this.key(values)) ?? this.fallback);
      case "list":
        if (values[0] === null) return this.nulls ?? this.fallback;
        return this.lists.get(this.key(values).toString("latin1")) ?? this.fallback;
      case "hash": {
        const { length } = this.remainders;
        return length === 0 ? null : this.remainders[partitionHash(this.types, values, length)]!;
      }
    }
  }

  /** The values as bytes in order; fewer than the key has: what all keys that begin with them begin with. */
  key(values: readonly Value[]): Buffer {
    return encodeKey(NO_PREFIX, this.columns, values);
  }

  /** One part's value as bytes in order, as latin-1 text. */
  partKey(place: number, value: Value): string {
    return encodeKey(NO_PREFIX, [this.columns[place]!], [value]).toString("latin1");
  }

  /** Ids of the partitions in the order of their bounds; DEFAULT comes last. As PostgreSQL reads them. */
  get inOrder(): readonly number[] {
    const ordered = new Set<number>();
    for (const { id } of this.ranges) ordered.add(id);
    for (const [, id] of [...this.lists].sort(([left], [right]) => (left < right ? -1 : 1))) ordered.add(id);
    for (const { id } of this.hashes) ordered.add(id);
    if (this.nulls !== null) ordered.add(this.nulls);
    if (this.fallback !== null) ordered.add(this.fallback);
    return [...ordered];
  }

  /** The bytes of a bound of a range. */
  rangeKey(datums: readonly PartitionRangeDatum[]): Buffer {
    const values: Value[] = [];
    for (const datum of datums) {
      if (datum === "minvalue") break;
      if (datum === "maxvalue") return Buffer.concat([this.key(values), ABOVE_ALL]);
      values.push(fromText(this.types[values.length]!, datum.value));
    }
    return this.key(values);
  }

  listKey(value: string): string {
    return this.key([fromText(this.types[0]!, value)]).toString("latin1");
  }

  /** The first range that may hold keys from `from` on: the last that begins at or before it, or the first of all. */
  rangeAt(key: Buffer): number {
    let low = 0;
    let high = this.ranges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ranges[middle]!.from.compare(key) <= 0) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  private inRange(key: Buffer): number | null {
    const range = this.ranges[this.rangeAt(key)];
    return range !== undefined && key.compare(range.to) < 0 ? range.id : null;
  }
}

function byRemainder(hashes: PartitionBounds["hashes"]): (number | null)[] {
  const greatest = hashes.at(-1)?.modulus ?? 0;
  const result = new Array<number | null>(greatest).fill(null);
  for (const { id, modulus, remainder } of hashes) {
    for (let i = remainder; i < greatest; i += modulus) result[i] = id;
  }
  return result;
}

const known = new WeakMap<TableDef, PartitionBounds>();

/** Of a partitioned table. `tableById` finds its partitions. */
export function partitionBoundsOf(table: TableDef, tableById: (id: number) => TableDef | null): PartitionBounds {
  let bounds = known.get(table);
  if (bounds === undefined) {
    const partitions = (table.children ?? []).map((id) => ({ id, bound: tableById(id)!.partitionBound! }));
    bounds = new PartitionBounds(table.partitionKey!.strategy, partitionKeyTypes(table), partitions);
    known.set(table, bounds);
  }
  return bounds;
}
