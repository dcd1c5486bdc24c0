/**
 * The ranges of the index on labels that hold the nodes with all of some labels. Nodes have few different sets of labels, so
 * these are found by going from one to the next in the index. What was read so is just the gaps between the sets: a
 * transaction that looks for a label conflicts with one that adds a new set, and not with one that adds a node of
 * a set that has the label not.
 */

import { decodeKey, encodeKey } from "../../storage/key-codec.js";
import { prefixEnd } from "../../storage/keys.js";
import type { KeyRange } from "../../storage/store.js";
import { includesLabel } from "../../values/labels.js";
import type { ExecContext } from "./context.js";
import type { KeyLayout } from "./table-layout.js";

export function labelRanges(
  layout: KeyLayout,
  labels: readonly string[],
  reverse: boolean,
  context: ExecContext,
): KeyRange[] {
  const { tx, tenantNumber } = context;
  const prefix = layout.prefixOf(tenantNumber);
  const end = prefixEnd(prefix);
  const ranges: KeyRange[] = [];
  for (let from: Uint8Array = prefix; ; ) {
    context.checkpoint();
    const cursor = tx.scan({ gte: from, lt: end, only: "keys" });
    const [key] = cursor.next(1).keys;
    const set = key === undefined ? null : (decodeKey(key, prefix.length, layout.columns)[0] as string);
    cursor.close();
    if (set === null) break;
    const gte = encodeKey(prefix, layout.columns, [set]);
    const lt = prefixEnd(gte);
    if (labels.every((label) => includesLabel(set, label))) ranges.push({ gte, lt, reverse });
    from = lt;
  }
  return reverse ? ranges.reverse() : ranges;
}
