/** Tools that try something out in a branch of the tenant, look at the difference, and keep it or throw it away. */

import Type from "typebox";
import type { Request } from "../../actor/request.js";
import { requireEntry } from "../../actor/table-doors.js";
import { BRANCH_NAME, Resolve, TablesToRestore } from "../../protocol/endpoints/branches.js";
import { Parameters, Strict } from "../../protocol/endpoints/schemas.js";
import { DbError } from "../../protocol/errors.js";
import { HISTORY_SECONDS_MAX } from "../../protocol/limits.js";
import { isAdministrator } from "../../session/owner.js";
import {
  betweenMoments,
  type Compared,
  DIFF_ROWS_DEFAULT,
  diffOf,
  sinceFork,
  withOther,
} from "../branches/branch-diff.js";
import { endBranch, inBranch, requireEndable } from "../branches/branch-life.js";
import { mergeBranch } from "../branches/branch-merge.js";
import {
  branchNumber,
  createBranch,
  layersOf,
  otherNumber,
  plannedBranch,
  shownBranch,
} from "../branches/make-branch.js";
import { undo } from "../branches/undo.js";
import { dryRunArgument, runStatement } from "./run-statement.js";
import { READS, resultOf, type Tool } from "./tool.js";

/** An agent that forgets its branch does no harm. */
const TTL_SECONDS_DEFAULT = 86_400;

const name = Type.String({ pattern: BRANCH_NAME.source, description: "1 to 63 characters of a-z, 0-9, - and _." });
const Moment = Type.Union([Type.String({ minLength: 1 }), Type.Integer({ minimum: 0 })], {
  description: "A time such as 2026-11-20T10:00:00Z, or the number of a commit.",
});
const WRITES = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false };

const branch: Tool = {
  name: "branch",
  door: "all",
  title: "Fork the data",
  description:
    "Makes a branch: a copy of all data that takes no time. Try changes there with branch_execute, look at them with diff, keep them with merge or throw them away with branch_delete.",
  input: Strict({
    name,
    from: Type.Optional(name),
    ttl_seconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: HISTORY_SECONDS_MAX, description: "Then it is deleted. Default: a day." }),
    ),
    quota_bytes: Type.Optional(
      Type.Integer({ minimum: 0, description: "Bytes that the branch may hold of its own. Default: without bound." }),
    ),
    dry_run: Type.Optional(Type.Boolean({ description: "No branch is made; the answer says which one would be." })),
  }),
  hints: WRITES,
  forReaders: false,
  call: async ({ request }, { ttl_seconds = TTL_SECONDS_DEFAULT, dry_run, ...wanted }) => {
    requireAdministrator(request);
    const body = { ...wanted, ttl_seconds };
    if (dry_run === true) return JSON.stringify({ dry_run, plan: await plannedBranch(request, body) });
    return resultOf(await createBranch(request, body), "branch");
  },
};

const branchExecute: Tool = {
  name: "branch_execute",
  door: "all",
  title: "Run a statement in a branch",
  description: "Runs one statement of SQL or Cypher in a branch. The data outside of the branch does not change.",
  input: Strict({
    branch: name,
    sql: Type.String({ minLength: 1 }),
    parameters: Type.Optional(Parameters),
    dry_run: dryRunArgument,
  }),
  hints: WRITES,
  forReaders: false,
  call: (context, { branch: of, sql, parameters: params = [], dry_run: dryRun }) => {
    requireAdministrator(context.request);
    const { partition } = context.request;
    const number = branchNumber(context.request, of, "branch");
    requireEntry(partition.shard.layers!.branchOf(number)!, context.request.head);
    return inBranch(partition, number, partition.shard.layers!.branchOf(number), () =>
      context.request.inTenant(partition.tenant(number), (request) =>
        runStatement({ ...context, request }, { sql, params, dryRun }),
      ),
    );
  },
};

const diff: Tool = {
  name: "diff",
  door: "all",
  title: "What has changed",
  description:
    "Counts and shows the rows that were added, removed and changed, with both values: what a branch has changed, what it has otherwise than another one (against), or what the data itself has changed between two moments (from, to).",
  input: Strict({
    branch: Type.Optional(name),
    against: Type.Optional(
      Type.Union([name, Type.Literal("")], { description: "Another branch as it is; empty: the data itself." }),
    ),
    from: Type.Optional(Moment),
    to: Type.Optional(Moment),
    table: Type.Optional(Type.String()),
    limit: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1000, description: "Rows that are shown. Default: 100." }),
    ),
  }),
  ...READS,
  call: async ({ request }, { table, limit = DIFF_ROWS_DEFAULT, ...what }) => {
    requireAdministrator(request);
    return resultOf(await diffOf(request, await comparedBy(request, what), { table, limit }), "diff");
  },
};

interface WantedDiff {
  readonly branch?: string | undefined;
  readonly against?: string | undefined;
  readonly from?: string | number | undefined;
  readonly to?: string | number | undefined;
}

/** Throws invalid_request. */
async function comparedBy(request: Request, { branch: of, against, from, to }: WantedDiff): Promise<Compared> {
  if ((of === undefined) === (from === undefined) || (of === undefined ? against : to) !== undefined) {
    const message = 'Name a "branch", with or without "against"; or the moment "from", with or without "to".';
    throw new DbError("invalid_request", message, { field: of === undefined ? "from" : "branch" });
  }
  if (of === undefined) return betweenMoments(request, String(from), to === undefined ? undefined : String(to));
  const number = branchNumber(request, of, "branch");
  return against === undefined ? sinceFork(request, number) : withOther(request, number, otherNumber(request, against));
}

const merge: Tool = {
  name: "merge",
  door: "all",
  title: "Keep what a branch has changed",
  description:
    "Writes the branch's rows into the data that it was forked from, all or none. Rows that both have changed are conflicts, which are refused unless `conflicts` says which side counts, or a query in `resolve` gives the rows.",
  input: Strict({
    branch: name,
    conflicts: Type.Optional(Type.Enum(["refuse", "ours", "theirs"])),
    resolve: Type.Optional(Resolve),
    dry_run: Type.Optional(Type.Boolean({ description: "Nothing is written." })),
    tables: Type.Optional(Type.Array(Type.String(), { minItems: 1, description: "Only the rows of these tables." })),
  }),
  hints: { ...WRITES, destructiveHint: true, idempotentHint: true },
  forReaders: false,
  call: async ({ request }, { branch: of, ...wanted }) => {
    requireAdministrator(request);
    const number = branchNumber(request, of, "branch");
    return resultOf(await mergeBranch(request, number, wanted, (placed, tx) => placed.commitPart(tx)), "merge");
  },
};

const undoTool: Tool = {
  name: "undo",
  door: "all",
  title: "Make rows what they were",
  description:
    "Makes the rows of tables what they were at an earlier moment, all or none. Look at it with dry_run first. The tenant's past has to be kept.",
  input: Strict({
    table: Type.Optional(Type.String({ minLength: 1 })),
    tables: Type.Optional(TablesToRestore),
    as_of: Moment,
    where: Type.Optional(
      Type.String({ minLength: 1, description: "A condition of SQL: only rows for which it is true, now or then." }),
    ),
    dry_run: Type.Optional(Type.Boolean({ description: "Nothing is written." })),
  }),
  hints: { ...WRITES, destructiveHint: true, idempotentHint: true },
  forReaders: false,
  call: async ({ request }, wanted) => {
    requireAdministrator(request);
    return resultOf(await undo(request, wanted, (tx) => request.commitPart(tx)), "undo");
  },
};

const branchDelete: Tool = {
  name: "branch_delete",
  door: "all",
  title: "Throw a branch away",
  description: "Deletes a branch and all that was changed in it.",
  input: Strict({
    branch: name,
    dry_run: Type.Optional(
      Type.Boolean({ description: "Nothing is deleted; the answer counts the changes that would be lost." }),
    ),
  }),
  hints: { ...WRITES, destructiveHint: true },
  forReaders: false,
  call: async ({ request }, { branch: of, dry_run }) => {
    requireAdministrator(request);
    const number = branchNumber(request, of, "branch");
    if (dry_run === true) return JSON.stringify({ dry_run, plan: await plannedEnd(request, number) });
    endBranch(request.partition, number);
    await request.durable();
    return resultOf({ plain: { deleted: true } }, "deleted");
  },
};

/** The branch, and what goes with it. */
async function plannedEnd(request: Request, number: number) {
  requireEndable(request.partition, number);
  const { plain: lost } = await diffOf(request, sinceFork(request, number), { limit: 0 });
  const { tables, definitions } = lost;
  return { branch: shownBranch(layersOf(request), number), lost: { tables, definitions } };
}

/** As of the routes: a branch shows all of its tenant. */
function requireAdministrator(request: Request): void {
  if (isAdministrator(request)) return;
  throw new DbError("forbidden", "Branches are for administrators of the tenant, by a credential that may write.");
}

export const BRANCH_TOOLS: readonly Tool[] = [branch, branchExecute, diff, merge, undoTool, branchDelete];
