/**
 * The lives of an actor's requests: steps 1 to 4 of the list at the head of actor.ts, which makes and owns it. Later
 * messages for a request (pieces of its body, word that its client took a part of the reply, or has left) find it
 * here.
 */

import { BodySource } from "../bodies/body-source.js";
import type { Input } from "../bodies/validate.js";
import type { ActorMarks } from "../protocol/actor-marks.js";
import type { Endpoint } from "../protocol/endpoint.js";
import { DbError } from "../protocol/errors.js";
import {
  PIECE_CODE,
  REPLY_MOVED,
  REQUEST_LAST_PIECE,
  REQUEST_STALE,
  REQUEST_STREAMED,
  type ReplyWriter,
  type RequestFrame,
  TAKEN_CODE,
} from "../protocol/frames.js";
import { leadOf } from "../protocol/lead.js";
import { momentBefore, momentNow } from "../protocol/moment.js";
import { after } from "../query/exec/operator.js";
import type { Answer } from "../session/answer.js";
import { MomentNotThere, pastAt } from "../session/as-of.js";
import type { Tenant } from "../session/tenant.js";
import type { Trace } from "../session/trace.js";
import { type ActorFeatures, DIRECTORY_TENANT, type HeldRequest } from "./actor-features.js";
import { answerInTurns } from "./answer-in-turns.js";
import { answerOnce } from "./answer-once.js";
import { Answers } from "./answers.js";
import { requireConnect, requireOwnRoles } from "./caller-rights.js";
import { type Copies, isCopyClosed, staleWrites } from "./copies.js";
import type { Idempotency } from "./idempotency.js";
import { requireWithinLead } from "./key-lead.js";
import type { Partition } from "./partition.js";
import { errorJson, withAge } from "./reply.js";
import { ReplySink } from "./reply-sink.js";
import { Request, type RequestChannel } from "./request.js";
import type { Route } from "./routes.js";
import type { Scheduler, Work } from "./scheduler.js";
import type { StoppedStatements } from "./stopped-statements.js";
import { requireDoor, requireReadsPast, requireReadsStale, requireWholeOwner } from "./table-doors.js";

export interface RequestsHost {
  readonly partitions: ReadonlyMap<number, Partition>;
  readonly scheduler: Scheduler;
  readonly replies: ReplyWriter;
  readonly features: Pick<ActorFeatures, "placeOf" | "hold" | "restoring" | "left" | "audited" | "refused">;
  readonly idempotency: Idempotency;
  readonly marks: ActorMarks;
  readonly stopped: StoppedStatements;
  /** There is something for the end of the turn. */
  armTurn(): void;
  /** A request came to this thread itself. */
  arrived(): void;
  isClosing(): boolean;
  /** A partition that is not here is another node's, or will be here soon. */
  readonly isClustered?: boolean;
  /** For reads that may be stale; null: this node keeps none. */
  readonly copies: Copies | null;
  log(level: "error", message: string, fields: object): void;
}

export class Requests {
  /** Those that were accepted since the actor opened. */
  count = 0;
  /** By their endpoints' codes; those of other actors are not there. */
  private readonly routes: (Route | undefined)[] = [];
  private readonly answers: Answers;
  /** Requests that did not end at once, by id. */
  private readonly running = new Map<number, Request>();
  /** Streamed bodies of requests that have not ended, by id. */
  private readonly bodies = new Map<number, BodySource>();
  /** Of requests whose turn has not come, by id. */
  private readonly traces = new Map<number, Trace>();
  /** Partitions that are about to be another node's. */
  private readonly leaving = new Set<number>();
  /** Ids of requests that were cancelled before they began. */
  private readonly cancelledEarly = new Set<number>();
  /** Of reads that may be stale: they wait for a copy that is new enough. */
  private readonly awaitingCopy = new Set<number>();
  private readonly channel: RequestChannel;
  private readonly partitions: ReadonlyMap<number, Partition>;
  private readonly scheduler: Scheduler;
  private readonly replies: ReplyWriter;

  constructor(private readonly host: RequestsHost) {
    this.partitions = host.partitions;
    this.scheduler = host.scheduler;
    this.replies = host.replies;
    this.answers = new Answers(host.replies, (message, fields) => host.log("error", message, fields));
    this.channel = {
      own: {
        takers: this.replies.takers,
        accept: (frame) => {
          this.host.arrived();
          this.accept(frame);
          this.host.armTurn();
        },
        acceptRead: (frame) => {
          this.host.arrived();
          this.scheduler.serveArrival(() => this.accept(frame));
          this.host.marks.nobody();
        },
      },
      marks: host.marks,
      taken: (id, bytes) => {
        this.replies.taken(id, bytes);
        this.host.armTurn();
      },
      durable: durablyCommitted,
      refused: (request, error) => this.host.features.refused(request, error),
      open: (request, headers) => {
        const { id, budget } = request;
        return new ReplySink(id, this.replies, withAge(request, headers), () => this.host.armTurn(), budget);
      },
    };
  }

  serve(routes: readonly Route[]): void {
    for (const route of routes) this.routes[route.endpoint.code] = route;
  }

  get runningCount(): number {
    return this.running.size;
  }

  /** Those of the tenant that run. */
  of(partition: Partition, tenant: number): Request[] {
    const found: Request[] = [];
    for (const request of this.running.values()) {
      if (request.partition === partition && request.tenant.number === tenant) found.push(request);
    }
    return found;
  }

  /** Those of the partition that run. */
  in(partition: Partition): Request[] {
    return [...this.running.values()].filter((request) => request.partition === partition);
  }

  /** The partition takes no more requests; those that have not begun find its next owner. */
  leave(partition: number): void {
    this.leaving.add(partition);
  }

  /** It is not here any more. */
  left(partition: number): void {
    this.leaving.delete(partition);
  }

  tenants(): Tenant[] {
    return [...this.running.values()].map(({ tenant }) => tenant);
  }

  /** The request of that frame, which follows, is traced. */
  traced(id: number, trace: Trace): void {
    this.traces.set(id, trace);
  }

  /** The turn has ended: nobody asks any more for those that were cancelled and are gone. */
  turnEnded(): void {
    if (this.cancelledEarly.size > 0 && this.scheduler.waiting === 0) this.cancelledEarly.clear();
  }

  accept(frame: RequestFrame): void {
    if (frame.code >= TAKEN_CODE) {
      this.toRunning(frame);
      return;
    }
    if (!this.partitions.has(frame.partition) || this.leaving.has(frame.partition)) {
      if (this.host.isClustered === true) {
        const isWhole = (frame.flags & REQUEST_STREAMED) === 0;
        if ((frame.flags & REQUEST_STALE) !== 0 && isWhole) void this.acceptStale(frame);
        else this.sendElsewhere(frame);
        return;
      }
      // Found damaged, which the gateway may not have known when it sent this.
      const error = new DbError("partition_damaged");
      this.traces.delete(frame.id);
      this.replies.text(frame.id, error.status, 0, "", errorJson(error, frame.requestId));
      return;
    }
    this.submit(frame, this.partitions.get(frame.partition)!);
  }

  /** A copy here answers, if it is new enough. */
  private async acceptStale(frame: RequestFrame): Promise<void> {
    const { copies } = this.host;
    const { staleMs = 0 } = frame.head;
    this.awaitingCopy.add(frame.id);
    const isThere = await copies?.isThere(frame.partition, momentBefore(momentNow(), staleMs)).catch(() => false);
    // Otherwise it was cancelled, and nobody waits for an answer.
    if (!this.awaitingCopy.delete(frame.id)) return;
    const partition = copies?.partition(frame.partition) ?? null;
    if (isThere === true && partition !== null) this.submit(frame, partition);
    else this.sendElsewhere(frame, copies?.whyNot(frame.partition, staleMs));
    this.host.armTurn();
  }

  private submit(frame: RequestFrame, partition: Partition): void {
    this.count++;
    const route = this.routes[frame.code]!;
    const tenant = route.endpoint.home === "directory" ? DIRECTORY_TENANT : frame.tenant;
    const work: Work = { usedMs: 0, account: partition.account };
    if ((frame.flags & REQUEST_STREAMED) !== 0) {
      this.bodies.set(frame.id, new BodySource((bytes) => this.channel.taken(frame.id, bytes)));
    }
    try {
      this.scheduler.submit(tenant, work, () => this.begin(frame, route, tenant, work));
    } catch (error) {
      if (this.partitions.has(frame.partition)) this.fail(this.requestOf(frame, route, tenant, work), error);
      else this.sendElsewhere(frame);
    }
  }

  /** Nothing was done: the gateway finds the owner. */
  private sendElsewhere(frame: RequestFrame, tooOld = ""): void {
    this.traces.delete(frame.id);
    if ((frame.flags & REQUEST_STREAMED) === 0) {
      const to = tooOld === "" ? String(frame.partition) : `${frame.partition}\n${tooOld}`;
      this.replies.bytes(frame.id, 0, REPLY_MOVED, to, frame.bodyBytes);
      return;
    }
    const error = new DbError("partition_unavailable", "The partition got another owner; retry.");
    this.replies.text(frame.id, error.status, 0, "", errorJson(error, frame.requestId));
  }

  private requestOf(frame: RequestFrame, { endpoint }: Route, tenant: number, work: Work): Request {
    const own = this.partitions.get(frame.partition);
    const partition = own ?? this.host.copies!.partition(frame.partition)!;
    const body = this.bodies.get(frame.id) ?? null;
    const { scheduler, channel } = this;
    const of = own === undefined ? this.copied(frame, tenant) : partition.tenant(tenant);
    const { tenant: owner, error } = placed(partition, of!, frame.head, endpoint);
    const request = new Request(frame, endpoint, partition, owner, scheduler, work, channel, body, false, tenant);
    if (error !== null) request.end(error);
    if (frame.head.staleMs !== undefined)
      request.staleMs = own === undefined ? this.host.copies!.ageMs(frame.partition) : 0;
    if (own === undefined) {
      request.elsewhere = () => this.sendElsewhere(frame);
      return request;
    }
    const { lead } = frame.head;
    // Who administers has to be able to change the budget.
    if (endpoint.home === "tenant" && endpoint.access !== "admin")
      request.budget = partition.keyBudgets.forRequest(tenant, lead === undefined ? null : leadOf(lead));
    if (this.traces.size > 0) this.trace(request);
    return request;
  }

  /** It is the request's turn; answers whether it has ended. */
  private begin(frame: RequestFrame, route: Route, tenant: number, work: Work): boolean {
    this.host.marks.began(frame.id, tenant);
    const partition = this.partitions.get(frame.partition);
    if (this.leaving.has(frame.partition) || (partition === undefined && this.copied(frame, tenant) === null)) {
      this.bodies.delete(frame.id);
      this.sendElsewhere(frame);
      return true;
    }
    if (route.endpoint.home === "named" && tenant === DIRECTORY_TENANT) {
      this.sendToNamed(frame, route, work);
      return true;
    }
    // A copy has no tenant that is on its way.
    const place = partition === undefined || partition.places.size === 0 ? undefined : partition.places.get(tenant);
    if (place?.kind === "restoring") {
      this.fail(this.requestOf(frame, route, tenant, work), this.host.features.restoring(tenant));
      return true;
    }
    if (place !== undefined) {
      this.host.features.hold(partition!, tenant, this.heldRequest(frame, route, tenant, work));
      return true;
    }
    const request = this.requestOf(frame, route, tenant, work);
    if (request.ending instanceof MomentNotThere && request.ending.there !== null) {
      if (request.trace !== null) this.traces.set(frame.id, request.trace);
      void request.ending.there.then(this.heldRequest(frame, route, tenant, work).resume);
      return true;
    }
    try {
      if (this.cancelledEarly.size > 0) request.cancelled = this.cancelledEarly.delete(frame.id);
      request.checkpoint();
      const handled = this.handle(route, request, frame);
      const answer = handled instanceof Promise ? handled : answerInTurns(request, handled);
      const again = this.again(request, frame, route, work);
      if (answer instanceof Promise) {
        this.finishLater(request, answer, again);
        return false;
      }
      this.finish(request, answer, again);
    } catch (error) {
      this.fail(request, error);
    }
    return true;
  }

  /** To the tenant that the path names. */
  private sendToNamed(frame: RequestFrame, route: Route, work: Work): void {
    try {
      const { number, partition } = this.host.features.placeOf(frame.head.params[0]!);
      if (partition === frame.partition) this.heldRequest(frame, route, number, work).resume();
      else this.redirect(frame, partition, number);
    } catch (error) {
      this.fail(this.requestOf(frame, route, DIRECTORY_TENANT, work), error);
    }
  }

  private redirect(frame: RequestFrame, to: number, tenant: number): void {
    this.traces.delete(frame.id);
    const headers = tenant === frame.tenant ? String(to) : `${to}\n\n${tenant}`;
    this.replies.bytes(frame.id, 0, REPLY_MOVED, headers, frame.bodyBytes);
    this.host.armTurn();
  }

  /** The tenant in this node's copy, for a read that may be stale; null: only the owner can answer. */
  private copied({ partition: number, flags, head }: RequestFrame, tenant: number): Tenant | null {
    const { copies } = this.host;
    const partition = (flags & REQUEST_STALE) === 0 ? null : (copies?.partition(number) ?? null);
    return partition === null ? null : copies!.tenantOf(partition, tenant, head.lead);
  }

  /** What does a request once more that committed nothing; null: it cannot be done again. */
  private again(request: Request, frame: RequestFrame, route: Route, work: Work): (() => void) | null {
    const { body, endpoint, tenant } = request;
    if (request.elsewhere !== null || body !== null || frame.isIdempotent || endpoint.home !== "tenant") return null;
    return () => {
      if (request.trace !== null) this.traces.set(frame.id, request.trace);
      const { number } = tenant;
      try {
        this.scheduler.submit(number, work, () => this.begin(frame, route, number, work));
      } catch (error) {
        this.fail(this.requestOf(frame, route, number, work), error);
      }
      this.host.armTurn();
    };
  }

  private trace(request: Request): void {
    request.trace = this.traces.get(request.id) ?? null;
    this.traces.delete(request.id);
    request.trace?.began();
  }

  /** A request whose tenant is being moved, or has been. */
  private heldRequest(frame: RequestFrame, route: Route, tenant: number, work: Work): HeldRequest {
    const refuse = (error: unknown): void => {
      this.fail(this.requestOf(frame, route, tenant, work), error);
      this.host.armTurn();
    };
    return {
      resume: () => {
        try {
          this.scheduler.submit(tenant, work, () => this.begin(frame, route, tenant, work));
        } catch (error) {
          refuse(error);
        }
      },
      redirect: (to) => {
        if (this.bodies.has(frame.id)) {
          refuse(new DbError("partition_unavailable", "The tenant was moved while the body was sent; retry."));
          return;
        }
        this.redirect(frame, to, tenant);
      },
      refuse,
    };
  }

  /** A message about a request that was accepted before; if the request has ended, it is ignored. */
  private toRunning(frame: RequestFrame): void {
    const request = this.running.get(frame.id);
    if (frame.code === PIECE_CODE) {
      this.bodies.get(frame.id)?.arrived(frame.bodyBytes, (frame.flags & REQUEST_LAST_PIECE) !== 0);
    } else if (frame.code === TAKEN_CODE) request?.sink?.taken(frame.deadlineMs);
    // The request, and the socket by which it came.
    else if (this.replies.takers.has(frame.id) && this.host.features.left(frame.id)) request?.cancel();
    else if (request !== undefined) request.cancel();
    else if (this.awaitingCopy.delete(frame.id)) this.traces.delete(frame.id);
    else if (!this.host.features.left(frame.id) && this.scheduler.waiting > 0) this.cancelledEarly.add(frame.id);
  }

  private handle(route: Route, request: Request, frame: RequestFrame): Answer | Promise<Answer> {
    if (this.host.isClosing()) throw new DbError("shutting_down");
    if (!this.host.stopped.isEmpty) this.host.stopped.refuseRequest(request.tenant.number, frame);
    this.requireAllowed(route, request);
    const input = route.validate(frame, request);
    if (input instanceof Promise) return input.then((read) => this.answer(route, request, frame, read));
    return this.answer(route, request, frame, input);
  }

  private requireAllowed({ endpoint }: Route, request: Request): void {
    if (endpoint.ends === true) return;
    requireWithinLead(request);
    // Statements ask when they have rows: COMMIT has none.
    if (endpoint.door !== "statements") request.budget?.requireLeft();
    if (endpoint.home === "tenant") requireOwnRoles(request);
    // A session of another protocol is asked when it begins.
    if (endpoint.home === "tenant" && (endpoint.method !== "WIRE" || endpoint.name.endsWith(".open"))) {
      requireConnect(request);
    }
    requireDoor(request, endpoint.door, endpoint.name);
  }

  private answer(route: Route, request: Request, frame: RequestFrame, input: Input): Answer | Promise<Answer> {
    if (input.warnings !== undefined) request.warnings = input.warnings;
    const answer = frame.isIdempotent
      ? answerOnce(this.host.idempotency, request, frame, () => route.handle(request, input))
      : route.handle(request, input);
    return after(answer, (done) => request.linked()?.then(() => done) ?? done);
  }

  private finishLater(request: Request, pending: Promise<Answer>, again: (() => void) | null): void {
    this.running.set(request.id, request);
    pending
      .then((handled) => {
        const answer = answerInTurns(request, handled);
        if (answer instanceof Promise) return answer.then((light) => this.finish(request, light, again));
        this.finish(request, answer, again);
      })
      .catch((error: unknown) => this.fail(request, error))
      .finally(() => {
        // The next one of the same socket may have begun.
        if (this.running.get(request.id) === request) this.running.delete(request.id);
        this.scheduler.ended(request.account, request.work);
        this.host.armTurn();
      });
  }

  private finish(request: Request, answer: Answer, again: (() => void) | null): void {
    request.ended();
    if (request.body !== null) this.bodies.delete(request.id);
    if (request.endpoint.isAudited)
      this.host.features.audited(request, answer.status ?? request.endpoint.status ?? 200, null);
    this.answers.give(request, answer, again);
  }

  private fail(request: Request, cause: unknown): void {
    request.ended();
    if (request.body !== null) this.bodies.delete(request.id);
    const writes = request.staleMs === null ? null : staleWrites(cause);
    if (
      request.elsewhere !== null &&
      request.sink?.started !== true &&
      (writes !== null || isCopyClosed(request.ending ?? cause))
    ) {
      // Its owner knows whether it may, and why not: reads of audited tables write, too.
      request.elsewhere();
      return;
    }
    const thrown = writes ?? cause;
    if (request.endpoint.isAudited) {
      const error = thrown instanceof DbError ? thrown : new DbError("internal_error");
      this.host.features.audited(request, error.status, error.code);
    }
    this.answers.refuse(request, request.told(thrown));
  }
}

/** Resolves when the tenant's commits are on disk. */
export function durablyCommitted({ partition, tenant }: Request): Promise<void> {
  return new Promise((resolve, reject) => partition.gate.pass(tenant.lastCommit, resolve, reject));
}

const NO_PAST_OF_BRANCHES = "The past of a branch is not kept. Leave the header X-Tessera-Branch out.";

/** What the request is about: its tenant or a branch of it, now or as it was. With an error it is about neither. */
function placed(
  partition: Partition,
  tenant: Tenant,
  head: RequestFrame["head"],
  endpoint: Endpoint,
): { readonly tenant: Tenant; readonly error: DbError | null } {
  const { branch, asOf, staleMs } = head;
  if (branch === "" && asOf === "" && staleMs === undefined) return { tenant, error: null };
  try {
    if (staleMs !== undefined) requireReadsStale(endpoint, branch);
    const { layers = null } = partition.shard;
    const own = branch === "" ? tenant.number : (layers?.branches.named(tenant.number, branch) ?? null);
    const hidesMemories = requireWholeOwner(tenant, head, own === null ? null : (layers?.branchOf(own) ?? null));
    if (asOf !== "") requireReadsPast(endpoint);
    if (branch !== "" && endpoint.name.startsWith("history."))
      throw new DbError("invalid_request", NO_PAST_OF_BRANCHES);
    if (branch === "" && asOf === "") return { tenant, error: null };
    if (own === null) {
      throw new DbError("not_found", `The tenant has no branch "${branch}".`, { field: "X-Tessera-Branch" });
    }
    if (asOf === "") return { tenant: partition.tenant(own), error: null };
    return { tenant: pastAt(partition.tenant(own), asOf, hidesMemories), error: null };
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    return { tenant, error };
  }
}
