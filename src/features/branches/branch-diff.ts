/**
 * GET /v1/branches/{name}/diff and /v1/history/diff: what a branch has changed since it was forked, or has that another
 * one has not; or what a tenant has changed between two moments. As one document that shows some rows, or as a stream
 * of all of them.
 */

import { rightsOfCaller } from "../../actor/caller-rights.js";
import type { Request } from "../../actor/request.js";
import { requireWholeBranch } from "../../actor/table-doors.js";
import { isKept } from "../../catalog/kept-tables.js";
import type { TableDef } from "../../catalog/table.js";
import type { QueryOf, ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { type Answer, STREAMED } from "../../session/answer.js";
import { FIRST_BRANCH } from "../../storage/branch-list.js";
import { branchEnded } from "../../storage/ending-branches.js";
import { engineHasAll } from "../../storage/engine-has-all.js";
import { withDefinitions } from "../statements/with-definitions.js";
import { inBranch } from "./branch-life.js";
import { comparedRows } from "./compare.js";
import { comparedTables } from "./compared-tables.js";
import { layersOf, requireOrigin, startOf } from "./make-branch.js";
import { meetingOf, type Point } from "./points.js";
import { type RowDifference, shownName, shownRow } from "./row-changes.js";

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

type Kind = ResponseOf<"branches.diff">["tables"][number]["kind"];
export type DiffQuery = Omit<QueryOf<"history.diff">, "from" | "to">;
type ShownChange = ResponseOf<"branches.diff">["rows"][number];
/** Takes a row that is shown. */
type Show = (row: ShownChange) => void | Promise<void>;

/** Bytes of a piece of a stream, about. */
const PIECE_BYTES = 64 * 1024;

/** What is compared. */
export interface Compared {
  readonly before: Point;
  readonly after: Point;
  /** Does the work in all branches that it reads: it fails where one ends meanwhile. */
  readonly within: <T>(work: () => Promise<T>) => Promise<T>;
  /** Rows say whether it has by now what the later state has; null: they do not. */
  readonly origin: number | null;
}

/** A branch with what it began with. Throws not_found, forbidden, and conflict for one that began empty. */
export function sinceFork(request: Request, number: number): Compared {
  const { partition } = request;
  requireWholeBranch(request, number, "the difference of a branch");
  const branch = partition.shard.layers!.branchOf(number);
  if (branch === null) throw branchEnded();
  requireOrigin(branch, "there is nothing to compare it with, unless you name another one with against");
  const { origin, start } = branch;
  return {
    before: { number: origin, sequence: start.sequence },
    after: { number, sequence: null },
    within: (work) => inBranch(partition, number, branch, work),
    origin,
  };
}

/** A branch with another one, or with the tenant, as they are. Throws as `sinceFork`. */
export function withOther(request: Request, number: number, other: number): Compared {
  const { partition } = request;
  const { layers } = partition.shard;
  const compared = [number, other].map((each) => ({ each, branch: layers!.branchOf(each) }));
  for (const { each } of compared) requireWholeBranch(request, each, "the difference of two branches");
  let within: Compared["within"] = (work) => work();
  for (const { each, branch } of compared) {
    const inner = within;
    if (each >= FIRST_BRANCH) within = (work) => inBranch(partition, each, branch, () => inner(work));
  }
  return { before: { number: other, sequence: null }, after: { number, sequence: null }, within, origin: null };
}

/** The tenant at two moments. Throws as statements with AS OF do. */
export async function betweenMoments(request: Request, from: string, to: string | undefined): Promise<Compared> {
  const { tenant, partition } = request;
  const sequenceAt = async (moment: string, field: string): Promise<number> => {
    if (!/^\d+$/.test(moment) && Number.isNaN(Date.parse(moment))) {
      const message = `"${field}" must be a time such as 2026-11-20T10:00:00Z, or the number of a commit.`;
      throw new DbError("invalid_request", message, { field });
    }
    return (await startOf(request, tenant.number, /^\d+$/.test(moment) ? Number(moment) : moment)).sequence;
  };
  const before = await sequenceAt(from, "from");
  const after = to === undefined ? partition.shard.committedSequence : await sequenceAt(to, "to");
  const oldest = Math.min(before, after);
  return {
    before: { number: tenant.number, sequence: before },
    after: { number: tenant.number, sequence: after },
    within: async (work) => {
      const done = await work();
      // What was forgotten meanwhile may lack in what was read.
      layersOf(request).requireReadable(tenant.number, oldest);
      return done;
    },
    origin: null,
  };
}

export function diffOf(request: Request, compared: Compared, wanted: DiffWanted = {}) {
  return compared.within(async () => {
    const rows: ShownChange[] = [];
    const { tables, definitions, complete } = await differences(request, compared, wanted, (row) => {
      rows.push(row);
    });
    return { plain: { tables, rows, definitions, complete } };
  });
}

/** A line for each row, and a last one with the rest, or with the error. */
export async function streamDiff(request: Request, compared: Compared, wanted: DiffWanted): Promise<Answer<never>> {
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
  const summary = await compared.within(() => {
    return differences(request, compared, { limit: Number.POSITIVE_INFINITY, ...wanted }, show);
  });
  sink.end(Buffer.from(`${piece}${JSON.stringify(summary)}\n`));
  return STREAMED;
}

/** As one document or as a stream, as the client accepts it. */
export function answerDiff(request: Request, compared: Compared, query: DiffQuery) {
  const [accept = ""] = request.head.media;
  const { table, change, limit, offset } = query;
  const wanted = {
    ...{ table, change, offset: Number(offset ?? 0) },
    ...(limit !== undefined && { limit: Number(limit) }),
  };
  return accept.includes(NDJSON) ? streamDiff(request, compared, wanted) : diffOf(request, compared, wanted);
}

async function differences(
  request: Request,
  { before, after, origin }: Compared,
  { table: only, change: kind, limit = DIFF_ROWS_DEFAULT, offset = 0 }: DiffWanted,
  show: Show,
) {
  const { shard } = request.partition;
  await engineHasAll(shard, request.yieldTurn);
  const meeting = meetingOf(shard.layers!, before, after);
  const tables = await comparedTables(request, before, after, meeting);
  // A branch may have such tables that its origin has not, so their names tell.
  const opensKept = withDefinitions(request, (catalog) => rightsOfCaller(request.head)(catalog).opensKept);
  const isWanted = (table: TableDef): boolean =>
    (opensKept || !isKept(table)) && (only === undefined || only === shownName(table));
  const counts = new Map<string, Counts>();
  const kinds = new Map<string, Kind>();
  let [total, shown] = [0, 0];
  for await (const difference of comparedRows({ request, before, after, meeting, tables, isWanted, origin })) {
    const table = shownName(difference.table);
    const change = changeOf(difference);
    const count = counts.get(table) ?? { added: 0, removed: 0, changed: 0, in_origin: 0 };
    const inOrigin = difference.inOrigin === true;
    count[change]++;
    if (inOrigin) count.in_origin++;
    counts.set(table, count);
    kinds.set(table, kindOf(difference.table));
    if (kind !== undefined && kind !== change) continue;
    total++;
    if (total <= offset || shown >= limit) continue;
    shown++;
    const waits = show({ ...shownChange(difference), ...(origin !== null && { in_origin: inOrigin }) });
    if (waits !== undefined) await waits;
    request.checkpoint();
  }
  return {
    tables: [...counts].map(([table, { in_origin, ...count }]) => ({
      ...{ table, kind: kinds.get(table)!, ...count },
      ...(origin !== null && { in_origin }),
    })),
    definitions: tables.changed.map(shownName),
    complete: total <= offset + shown,
  };
}

function kindOf({ collection }: TableDef): Kind {
  if (collection === undefined) return "table";
  return collection.kind === "document" ? "collection" : collection.kind === "vector" ? "vectors" : "graph";
}

/** As answers show it. */
export function shownChange(difference: Omit<RowDifference, "key">) {
  const { table, tableBefore = table, before, after } = difference;
  return {
    table: shownName(table),
    change: changeOf({ before, after }),
    before: shownRow(tableBefore, before),
    after: shownRow(table, after),
  };
}

export function changeOf({ before, after }: Pick<RowDifference, "before" | "after">): Change {
  if (before === null) return "added";
  return after === null ? "removed" : "changed";
}
