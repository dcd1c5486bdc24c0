/**
 * GET /v1/branches/{name}/diff: what a branch has changed since it was forked. As one document that shows some rows, or
 * as a stream of all of them.
 */

import { rightsOfCaller } from "../../actor/caller-rights.js";
import type { Request } from "../../actor/request.js";
import { requireWholeBranch } from "../../actor/table-doors.js";
import { isKept } from "../../catalog/kept-tables.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { type Answer, STREAMED } from "../../session/answer.js";
import type { Branch } from "../../storage/branch-list.js";
import { engineHasAll } from "../../storage/engine-has-all.js";
import { withDefinitions } from "../statements/with-definitions.js";
import { inBranch } from "./branch-life.js";
import { requireOrigin } from "./make-branch.js";
import { branchTables, type RowDifference, rowDifferences, shownName, shownRow } from "./row-changes.js";

export const NDJSON = "application/x-ndjson";
/** Rows that an answer shows. */
export const DIFF_ROWS_DEFAULT = 100;

export type Change = "added" | "removed" | "changed";
type Counts = Record<Change | "in_origin", number>;

export interface DiffWanted {
  /** Only that table's. */
  readonly table?: string | undefined;
  /** Rows that are shown are of this kind. */
  readonly change?: Change | undefined;
  /** Rows that are shown, after so many others. */
  readonly limit?: number;
  readonly offset?: number;
}

type ShownChange = ResponseOf<"branches.diff">["rows"][number];
/** Takes a row that is shown. */
type Show = (row: ShownChange) => void | Promise<void>;

/** Bytes of a piece of a stream, about. */
const PIECE_BYTES = 64 * 1024;

export function diffOf(request: Request, number: number, wanted: DiffWanted = {}) {
  const { partition } = request;
  requireWholeBranch(request, number, "the difference of a branch");
  const branch = partition.shard.layers!.branchOf(number);
  if (branch !== null) requireOrigin(branch, "there is nothing to compare it with");
  return inBranch(partition, number, branch, async (there) => {
    const rows: ShownChange[] = [];
    const { tables, definitions, complete } = await differences(request, number, there, wanted, (row) => {
      rows.push(row);
    });
    return { plain: { tables, rows, definitions, complete } };
  });
}

/** A line for each row, and a last one with the rest, or with the error. */
export async function streamDiff(request: Request, number: number, wanted: DiffWanted): Promise<Answer<never>> {
  const { partition } = request;
  requireWholeBranch(request, number, "the difference of a branch");
  const branch = partition.shard.layers!.branchOf(number);
  if (branch !== null) requireOrigin(branch, "there is nothing to compare it with");
  const sink = await request.openReply(NDJSON, []);
  sink.errorText = (errorJson) => `${errorJson}\n`;
  let piece = "";
  const show: Show = (row) => {
    piece += `${JSON.stringify(row)}\n`;
    if (piece.length < PIECE_BYTES) return;
    const full = Buffer.from(piece);
    piece = "";
    return sink.write(full);
  };
  const summary = await inBranch(partition, number, branch, (there) => {
    return differences(request, number, there, { limit: Number.POSITIVE_INFINITY, ...wanted }, show);
  });
  sink.end(Buffer.from(`${piece}${JSON.stringify(summary)}\n`));
  return STREAMED;
}

async function differences(
  request: Request,
  number: number,
  branch: Branch,
  { table: only, change: kind, limit = DIFF_ROWS_DEFAULT, offset = 0 }: DiffWanted,
  show: Show,
) {
  await engineHasAll(request.partition.shard, request.yieldTurn);
  const tables = await branchTables(request, number, branch);
  // A branch may have such tables that its origin has not, so their names tell.
  const opensKept = withDefinitions(request, (catalog) => rightsOfCaller(request.head)(catalog).opensKept);
  const counts = new Map<string, Counts>();
  let [total, shown] = [0, 0];
  for await (const difference of rowDifferences(request, number, branch, tables, { withOurs: true })) {
    if (!opensKept && isKept(difference.table)) continue;
    const table = shownName(difference.table);
    if (only !== undefined && only !== table) continue;
    const change = changeOf(difference);
    const count = counts.get(table) ?? { added: 0, removed: 0, changed: 0, in_origin: 0 };
    const inOrigin = difference.inOrigin === true;
    count[change]++;
    if (inOrigin) count.in_origin++;
    counts.set(table, count);
    if (kind !== undefined && kind !== change) continue;
    total++;
    if (total <= offset || shown >= limit) continue;
    shown++;
    const waits = show({ ...shownChange(difference), in_origin: inOrigin });
    if (waits !== undefined) await waits;
    request.checkpoint();
  }
  return {
    tables: [...counts].map(([table, count]) => ({ table, ...count })),
    definitions: tables.changed.map(shownName),
    complete: total <= offset + shown,
  };
}

/** As answers show it. */
export function shownChange({ table, before, after }: Pick<RowDifference, "table" | "before" | "after">) {
  return {
    table: shownName(table),
    change: changeOf({ before, after }),
    before: shownRow(table, before),
    after: shownRow(table, after),
  };
}

export function changeOf({ before, after }: Pick<RowDifference, "before" | "after">): Change {
  if (before === null) return "added";
  return after === null ? "removed" : "changed";
}
