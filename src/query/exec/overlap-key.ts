/**
 * EXCLUDE (…, c WITH operator) with another operator than "=" for the last column: rows with equal values in the other
 * columns must not have values there that satisfy it. Such rows lie side by side in the constraint's index. Called by
 * table-writer.ts.
 *
 * Ranges and networks (&&) lie there by their lower bounds, values (<>) in their order. While no two satisfy the
 * operator, a new one does with any only if it does with the one before it or the one behind it. And if several new
 * ones do with others, two neighbours do, one of which is new. Figures (&&, ~=) lie there by their place; those near a
 * new one are all looked at.
 */
import { decodeKey, encodeKey } from "../../storage/key-codec.js";
import { prefixEnd } from "../../storage/keys.js";
import type { Transaction } from "../../storage/store.js";
import { extentOf, type FigureName, isFigure } from "../../values/geometry-extent.js";
import type { Value } from "../../values/values.js";
import { operatorFor } from "../expr/resolve.js";
import { baseType } from "../expr/types.js";
import type { ExecContext } from "./context.js";
import { suffixOf } from "./entry-value.js";
import { firstNear } from "./figures-near.js";
import { joinKey, type KeyLayout } from "./table-layout.js";

export interface Neighbour {
  /** The values of its key. */
  readonly values: readonly Value[];
  /** What its row's key ends with. */
  readonly suffix: Uint8Array;
}

/** Whether a search for what a row excludes may look at very many entries: it is made where it can give way. */
export function looksAtMany({ columns }: KeyLayout): boolean {
  return isFigure(baseType(columns.at(-1)!.type));
}

/** Whether a row with these values can exclude another one. */
export function canOverlap({ operator }: KeyLayout, values: readonly Value[] | null): values is readonly Value[] {
  // No range overlaps an empty one.
  return values !== null && !values.includes(null) && (operator !== "&&" || values.at(-1) !== "empty");
}

/**
 * The entry that these values exclude; null: there is none. `suffix`: of the row that has the values, if it has an
 * entry, which does not count. What is read counts as read whatever the isolation. A promise: only for figures.
 */
export function overlappingNeighbour(
  context: ExecContext,
  index: KeyLayout,
  values: readonly Value[],
  suffix: Uint8Array | null,
): Neighbour | null | Promise<Neighbour | null> {
  const { tx } = context;
  const prefix = index.prefixOf(context.tenantNumber);
  const group = encodeKey(prefix, index.columns, values.slice(0, -1));
  const place = encodeKey(prefix, index.columns, values);
  const type = baseType(index.columns.at(-1)!.type);
  const { apply } = operatorFor(index.operator, type)!;
  const excluded = (key: Uint8Array, value: Uint8Array): Neighbour | null => {
    const members = decodeKey(key, prefix.length, index.columns);
    const other = members.at(-1)!;
    if (other === null || apply(values.at(-1)!, other) !== true) return null;
    return { values: members, suffix: Buffer.from(suffixOf(index, value)) };
  };
  const done = () => tx.guardReads(false);
  tx.guardReads(true);
  let isPending = false;
  try {
    if (isFigure(type)) {
      const own = suffix === null ? null : joinKey(place, suffix);
      const rectangle = extentOf(type.name as FigureName, values.at(-1) as string);
      const found = firstNear(context, tx, group, rectangle, (key, value) =>
        own !== null && Buffer.compare(key, own) === 0 ? null : excluded(key, value),
      );
      isPending = found instanceof Promise;
      return found instanceof Promise ? found.finally(done) : found;
    }
    const entry = suffix === null ? place : joinKey(place, suffix);
    const behind = suffix === null ? place : joinKey(entry, Buffer.of(0));
    return firstOf(tx, group, entry, true, excluded) ?? firstOf(tx, behind, prefixEnd(group), false, excluded);
  } finally {
    if (!isPending) done();
  }
}

function firstOf(
  tx: Transaction,
  gte: Uint8Array,
  lt: Uint8Array,
  reverse: boolean,
  excluded: (key: Uint8Array, value: Uint8Array) => Neighbour | null,
): Neighbour | null {
  const cursor = tx.scan({ gte, lt, reverse });
  const { keys, values } = cursor.next(1);
  const neighbour = keys.length > 0 ? excluded(keys[0]!, values[0]!) : null;
  cursor.close();
  return neighbour;
}
