/**
 * Requests that no client has sent, so that whatever is written for requests (sessions, tools, a route's own reads)
 * works for jobs, too. They have the rights of the user who made the job, no deadline, and the tenant's turns. Made
 * for actor.ts, which asks who is at work when a tenant is to move or be forgotten.
 */

import type { Partition } from "../../actor/partition.js";
import { Request, type RequestChannel } from "../../actor/request.js";
import type { Scheduler } from "../../actor/scheduler.js";
import type { ActorMarks } from "../../protocol/actor-marks.js";
import { DbError } from "../../protocol/errors.js";
import { REQUEST_READ_ONLY, type RequestHead } from "../../protocol/frames.js";
import { callerBounds } from "../../protocol/identity.js";
import { leadOf } from "../../protocol/lead.js";
import type { JobOwner } from "../../protocol/placement.js";
import type { Tenant } from "../../session/tenant.js";

/** Its answer, if any, goes nowhere. */
const NO_ENDPOINT = {
  name: "background",
  door: "none",
  method: "POST",
  path: "",
  summary: "",
  tag: "",
  access: "member",
  home: "tenant",
  code: -1,
  isAudited: false,
} as const;

export class BackgroundRequests {
  private readonly open = new Set<Request>();
  private made = 0;
  private readonly channel: RequestChannel;

  constructor(
    private readonly scheduler: Scheduler,
    marks: ActorMarks,
    durable: RequestChannel["durable"],
  ) {
    this.channel = {
      own: null,
      marks,
      taken: () => undefined,
      durable,
      // The job itself says how it has ended.
      refused: () => undefined,
      open: () => {
        throw new Error("a request in the background has no client to reply to");
      },
    };
  }

  /** Runs `work` with a request that is open as long as it takes, and ends it when `signal` fires. */
  async run<T>(
    partition: Partition,
    tenant: number,
    owner: JobOwner,
    signal: AbortSignal,
    work: (request: Request) => Promise<T>,
    /** The job's name, for reports of what is at work. */
    name = "",
  ): Promise<T> {
    const request = this.make(partition, partition.tenant(tenant), owner);
    if (name !== "") request.named(name);
    const stop = (): void => request.end(reasonOf(signal));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop);
    this.open.add(request);
    try {
      await request.yieldTurn();
      return await work(request);
    } finally {
      signal.removeEventListener("abort", stop);
      this.open.delete(request);
      request.ended();
    }
  }

  of(partition: Partition, tenant: number): Request[] {
    return [...this.open].filter((request) => request.partition === partition && request.tenant.number === tenant);
  }

  /** Those that must stay in memory. */
  tenants(): Tenant[] {
    return [...this.open].map(({ tenant }) => tenant);
  }

  private make(partition: Partition, tenant: Tenant, owner: JobOwner): Request {
    const { userId, username, tenantId, roles, readOnly } = owner;
    const head: RequestHead = {
      ...{ userId, username, tenantId, roles, ...callerBounds(owner) },
      ...{ idempotencyKey: "", remoteAddress: "", params: [], query: "", keyId: "", media: [], branch: "", asOf: "" },
    };
    const origin = {
      id: 0,
      requestId: `background-${++this.made}`,
      flags: readOnly ? REQUEST_READ_ONLY : 0,
      deadlineMs: Number.POSITIVE_INFINITY,
      head,
    };
    const work = { usedMs: 0, account: partition.account };
    const { channel, scheduler } = this;
    // In a branch, too, the turns, the budget and the trail of audits are the tenant's.
    const root = partition.shard.layers?.branchOf(tenant.number)?.root ?? tenant.number;
    const request = new Request(origin, NO_ENDPOINT, partition, tenant, scheduler, work, channel, null, false, root);
    const { lead } = head;
    request.budget = partition.keyBudgets.forJob(root, lead === undefined ? null : leadOf(lead));
    return request;
  }
}

/** Why the signal ends a request. */
export function reasonOf({ reason }: AbortSignal): DbError {
  return reason instanceof DbError ? reason : new DbError("cancelled");
}

/** Whose rights the jobs of this request's user have. */
export function ownerOf({ head, readOnly }: Pick<Request, "head" | "readOnly">): JobOwner {
  const { userId, keyId, username, tenantId, roles } = head;
  return { userId, keyId, username, tenantId, roles, readOnly, ...callerBounds(head) };
}
