/** GET /v1/branches/{name}/diff: what a branch has changed since it was forked. */

import { rightsOfCaller } from "../../actor/caller-rights.js";
import type { Request } from "../../actor/request.js";
import { isKept } from "../../catalog/kept-tables.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import type { Branch } from "../../storage/branch-list.js";
import { engineHasAll } from "../../storage/engine-has-all.js";
import { withDefinitions } from "../statements/with-definitions.js";
import { inBranch } from "./branch-life.js";
import { branchTables, type RowDifference, rowDifferences, shownName, shownRow } from "./row-changes.js";

/** Rows that an answer shows. */
export const DIFF_ROWS_DEFAULT = 100;

export type Change = "added" | "removed" | "changed";

export interface DiffWanted {
  /** Only that table's. */
  readonly table?: string | undefined;
  /** Rows that are shown are of this kind. */
  readonly change?: Change | undefined;
  /** Rows that are shown, after so many others. */
  readonly limit?: number;
  readonly offset?: number;
}

export function diffOf(request: Request, number: number, wanted: DiffWanted = {}) {
  const { partition } = request;
  const branch = partition.shard.layers!.branchOf(number);
  return inBranch(partition, number, branch, (there) => differences(request, number, there, wanted));
}

async function differences(
  request: Request,
  number: number,
  branch: Branch,
  { table: only, change: kind, limit = DIFF_ROWS_DEFAULT, offset = 0 }: DiffWanted,
) {
  await engineHasAll(request.partition.shard, request.yieldTurn);
  const tables = await branchTables(request, number, branch);
  // A branch may have such tables that its origin has not, so their names tell.
  const opensKept = withDefinitions(request, (catalog) => rightsOfCaller(request.head)(catalog).opensKept);
  const counts = new Map<string, Record<Change, number>>();
  const rows: ResponseOf<"branches.diff">["rows"][number][] = [];
  let total = 0;
  for await (const difference of rowDifferences(request, number, branch, tables)) {
    if (!opensKept && isKept(difference.table)) continue;
    const table = shownName(difference.table);
    if (only !== undefined && only !== table) continue;
    const change = changeOf(difference);
    const count = counts.get(table) ?? { added: 0, removed: 0, changed: 0 };
    count[change]++;
    counts.set(table, count);
    if (kind !== undefined && kind !== change) continue;
    total++;
    if (total <= offset || rows.length >= limit) continue;
    rows.push(shownChange(difference));
  }
  return {
    plain: {
      tables: [...counts].map(([table, count]) => ({ table, ...count })),
      rows,
      definitions: tables.changed.map(shownName),
      complete: total <= offset + rows.length,
    },
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
