/**
 * A branch for one run of an agent: its tools read and write there, and the tenant itself does not change. What it has
 * changed is shown as a difference; whoever started the run merges the branch, or lets it end with its time.
 */
import type { Request } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";
import { isAdministrator } from "../../session/owner.js";
import type { Tenant } from "../../session/tenant.js";
import { diffOf, sinceFork } from "../branches/branch-diff.js";
import { endBranch, inBranch, isThere } from "../branches/branch-life.js";
import { branchNumber, createBranch } from "../branches/make-branch.js";
import type { AgentSandbox, ToolBounds } from "./agent-tools.js";

/** Then the branch is deleted, unless it was merged before. */
const TTL_SECONDS = 86_400;

export type CallTool = (
  request: Request,
  tenant: Tenant,
  name: string,
  args: unknown,
  bounds: ToolBounds,
) => Promise<string>;

/** Throws forbidden, and overloaded where the tenant has all the branches that it may have. */
export async function forkFor(request: Request, name: string, callTool: CallTool): Promise<AgentSandbox> {
  if (!isAdministrator(request)) {
    throw new DbError("forbidden", "A sandbox is a branch. Branches are for administrators of the tenant.", {
      field: "sandbox",
    });
  }
  await createBranch(request, { name, ttl_seconds: TTL_SECONDS });
  const number = branchNumber(request, name, "sandbox");
  const { partition } = request;
  const branch = partition.shard.layers!.branchOf(number)!;
  const discard = async (): Promise<void> => {
    if (!isThere(partition, number, branch)) return;
    try {
      endBranch(partition, number);
      await request.durable();
    } catch (error) {
      // Others are forked from it, or the disk is full: it ends with its time.
      if (!(error instanceof DbError)) throw error;
    }
  };
  return {
    call: (tool, args, bounds) =>
      inBranch(partition, number, branch, () => callTool(request, partition.tenant(number), tool, args, bounds)),
    outcome: async () => {
      const { plain } = await inBranch(partition, number, branch, () => diffOf(request, sinceFork(request, number)));
      const isSame = plain.tables.length === 0 && plain.definitions.length === 0;
      if (isSame) await discard();
      return { branch: isThere(partition, number, branch) ? name : null, ...plain };
    },
    discard,
  };
}
