/**
 * Checks of requests that reach tables in ways of their own (`Door` in protocol/endpoint.ts), and of those about the
 * past or what may be stale.
 */
import type { Input } from "../bodies/validate.js";
import type { Door, Endpoint } from "../protocol/endpoint.js";
import { DbError } from "../protocol/errors.js";
import { administers } from "../protocol/identity.js";
import { unlessStopped } from "../protocol/turns.js";
import type { Answer } from "../session/answer.js";
import { MomentNotThere, pastAt } from "../session/as-of.js";
import type { Tenant } from "../session/tenant.js";
import { requireWholeTenant } from "../session/whole-rights.js";
import type { Branch } from "../storage/branch-list.js";
import { rightsOfCaller } from "./caller-rights.js";
import type { Request } from "./request.js";

type Handle = (request: Request, input: Input) => Answer | Promise<Answer>;

const askerOf = (head: Request["head"]) => ({ rights: rightsOfCaller(head), isLed: head.lead !== undefined });

/**
 * Throws 403 where the door asks for all of the tenant, and roles or policies keep something of it from the caller.
 */
export function requireDoor({ tenant, head }: Request, door: Door, what: string): void {
  if (door !== "whole" && door !== "all") return;
  requireWholeTenant(tenant, askerOf(head), what, door === "all" ? "read" : "refused");
}

/** Throws 403 where the branch is not for the caller (`users` and `keys` of POST /v1/branches). */
export function requireEntry(
  { name, access: { users, keys } }: Branch,
  { username, keyId, roles }: Request["head"],
): void {
  const isOf = users === undefined || users.includes(username) || administers({ roles });
  const isBy = keys === undefined || keyId === "" || keys.includes(keyId);
  if (isOf && isBy) return;
  const what = isOf ? "The API key" : `The user "${username}"`;
  throw new DbError("forbidden", `${what} may not enter the branch "${name}".`, {
    hint: `An administrator changes who may: PATCH /v1/branches/${name} with "${isOf ? "keys" : "users"}".`,
  });
}

/**
 * Throws 403 where a branch, or another one on the way to the tenant, keeps something from the caller by roles or
 * policies of its own. Others' memories are left out by who asks.
 */
export function requireWholeBranch({ partition, head }: Request, number: number, what: string): void {
  const { layers } = partition.shard;
  for (let at = number, branch = layers?.branchOf(at); branch != null; branch = layers?.branchOf(at)) {
    requireEntry(branch, head);
    requireWholeTenant(partition.tenant(at), askerOf(head), what, "refused");
    at = branch.origin;
  }
}

/**
 * What `requireDoor` says, of a branch and of the past: roles and policies in them may be older than those of the
 * tenant, which hold.
 * `owner`: the tenant itself, as it is. True: its past must hide memories.
 */
export function requireWholeOwner(owner: Tenant, head: Request["head"], branch: Branch | null): boolean {
  if (branch !== null) requireEntry(branch, head);
  if (branch?.access.ownPolicies === true && head.asOf === "") return false;
  if (head.branch === "" && head.asOf === "") return false;
  const [what, memories] = head.branch === "" ? (["the past", "refused"] as const) : (["a branch", "read"] as const);
  return requireWholeTenant(owner, askerOf(head), what, memories);
}

/** Endpoints that read tables by what their request's tenant says alone, and so can read its past. */
const READS_PAST =
  /^(?:query\.(?:execute|batch|script)|schema\.\w+|data\.export|(?:collections|documents)\.(?:list|get|search)|vectors\.(?:get|search|collections\.(?:list|get|count))|graph\.(?:match|nodes\.(?:list|get|neighbors)|edges\.(?:list|get)|graphs\.list|indexes\.list)|memory\.(?:list|get|recall))$/;

/** Throws invalid_request: what else a request reaches is kept by the tenant's number, and is of now. */
export function requireReadsPast({ name }: Endpoint): void {
  if (READS_PAST.test(name)) return;
  throw new DbError("invalid_request", `${name} cannot be asked about the past.`, {
    field: "X-Tessera-As-Of",
    hint: "Statements, documents, searches, vectors and the graph can be read as of a moment.",
  });
}

/** Calls the handler with a request about the moment that `as_of` of its input names; without one, as it is. */
export function ofItsMoment(handle: Handle, where: "body" | "query"): Handle {
  return (request, input) => {
    const { as_of: moment, ...rest } = input[where] as { readonly as_of?: string | number };
    if (moment === undefined) return handle(request, input);
    const { tenant, head } = request;
    const hidesMemories = requireWholeTenant(tenant, askerOf(head), "the past", "refused");
    return whenThere(request, () => pastAt(tenant, String(moment), hidesMemories, "as_of")).then((past) => {
      // The answer waits until what it has read is on disk.
      tenant.sawEverything();
      return request.inTenant(past, async (placed) => handle(placed, { ...input, [where]: rest }));
    });
  };
}

async function whenThere(request: Request, past: () => Tenant): Promise<Tenant> {
  for (;;) {
    try {
      return past();
    } catch (error) {
      if (!(error instanceof MomentNotThere) || error.there === null) throw error;
      await unlessStopped(error.there, request);
    }
  }
}

/** The same endpoints, as others reach what only the owner has. */
export function requireReadsStale({ name }: Endpoint, branch: string): void {
  const header = "X-Tessera-Consistency";
  if (branch !== "")
    throw new DbError("invalid_request", `${header} and X-Tessera-Branch exclude each other.`, { field: header });
  if (READS_PAST.test(name)) return;
  throw new DbError("invalid_request", `${name} cannot answer with what may be stale.`, {
    field: header,
    hint: "Statements, documents, searches, vectors and the graph can be read so.",
  });
}
