/**
 * Moves of tenants between partitions, decided here, in the directory's actor. The phases of a move:
 *
 *   preparing   the target records that it expects the tenant, and clears what may be left of it there
 *   copying     the source sends its entries while it serves the tenant
 *   draining    requests wait at the source, which sends the rest
 *   switching   the target has everything on disk; the directory's record changes, and is synced
 *   cleaning    the target serves, waiting requests follow, the source removes its copy
 *
 * The directory's record alone says where the tenant is. If one side fails, the others receive `settle` with that
 * record, which ends their part. An actor that starts with an undecided tenant asks and receives the same. The state
 * here is only for clients to look at. How a move began and ended is a record of the directory, too: a move that was
 * under way when this actor ended is done if the directory's record had changed, and has failed otherwise.
 */
import { randomUUID } from "node:crypto";
import type { Directory } from "../../directory/directory.js";
import type { MoveRecord } from "../../directory/records.js";
import { DbError } from "../../protocol/errors.js";
import type { FromActor } from "../../protocol/messages.js";
import type { MoveReport, MoveState, MoveView, PlacementMessage, UnsettledTenant } from "../../protocol/placement.js";

/** On one machine, where no message is lost. */
const SILENCE_MS_MAX = 60_000;
/** Commits of others may be refused while it is asked what is sure. */
const REFUSALS_MAX = 3;
/** Moves that clients can look at, ended ones included. */
const REMEMBERED_MAX = 1000;

interface Move {
  readonly id: string;
  readonly tenantId: string;
  readonly tenant: number;
  readonly from: number;
  readonly to: number;
  readonly transactionsMs: number;
  readonly startedAt: number;
  state: MoveState;
  entries: number;
  bytes: number;
  finishedAt: number | null;
  heldMs: number | null;
  error: string | null;
  heardAt: number;
}

export interface TenantMovesOptions {
  readonly directory: Pick<
    Directory,
    "placeOf" | "partitionOfNumber" | "relocateTenant" | "saveMove" | "forgetMove" | "listMoves"
  >;
  readonly partitions: number;
  readonly actors: number;
  readonly now: () => number;
  readonly say: (message: FromActor) => void;
  /** Resolves when what the directory committed is on disk; rejects when it was undone. */
  readonly durable: () => Promise<void>;
  /** A move without a report for so long has failed. */
  readonly silenceMs?: number;
}

export class TenantMoves {
  /** The newest of each tenant, by number. */
  private readonly moves = new Map<number, Move>();

  constructor(private readonly options: TenantMovesOptions) {
    const records = options.directory.listMoves().sort((a, b) => a.startedAt - b.startedAt);
    for (const record of records) {
      const move: Move = { ...record, transactionsMs: 0, heardAt: record.startedAt };
      this.moves.set(move.tenant, move);
      if (move.finishedAt !== null) continue;
      // Whoever takes part asks where the tenant is when it hears nothing more, so nothing has to be said here.
      const isMoved = options.directory.partitionOfNumber(move.tenant) === move.to;
      if (isMoved) this.end(move, "done", null);
      else this.end(move, "failed", "the directory's actor was started again meanwhile");
    }
  }

  /** Throws tenant_not_found, invalid_request, conflict while another move of the tenant is under way. */
  start(tenantId: string, to: number, transactionsMs: number): MoveView {
    const { number: tenant, partition: from } = this.options.directory.placeOf(tenantId);
    if (to >= this.options.partitions) {
      throw new DbError("invalid_request", `The partitions are numbered 0 to ${this.options.partitions - 1}.`, {
        field: "partition",
      });
    }
    if (from === to) throw new DbError("conflict", `Tenant "${tenantId}" is already in partition ${to}.`);
    if (this.liveOf(tenant) !== null) throw new DbError("conflict", `Tenant "${tenantId}" is already being moved.`);
    const now = this.options.now();
    const move: Move = {
      ...{ id: randomUUID(), tenantId, tenant, from, to, transactionsMs, startedAt: now, state: "preparing" },
      ...{ entries: 0, bytes: 0, finishedAt: null, heldMs: null, error: null, heardAt: now },
    };
    this.moves.delete(tenant);
    this.moves.set(tenant, move);
    this.options.directory.saveMove(recordOf(move));
    if (this.moves.size > REMEMBERED_MAX) this.forgetOldest();
    void this.prepare(move);
    return viewOf(move);
  }

  /** The target removes what is left there of the tenant: nobody says so who might not be the directory any more. */
  private async prepare(move: Move): Promise<void> {
    const { tenant, id, from, to } = move;
    try {
      await this.options.durable();
      if (move.state === "preparing") this.say(to, { do: "receive", tenant, move: id, from });
    } catch (error) {
      if (!isUnsure(error)) this.fail(move, error instanceof Error ? error.message : String(error));
    }
  }

  /** Throws conflict while the tenant is being moved. */
  requireAtRest(tenantId: string, tenant: number): void {
    if (this.liveOf(tenant) === null) return;
    throw new DbError("conflict", `Tenant "${tenantId}" is being moved. Wait until that has ended, or cancel it.`, {
      hint: `GET /admin/tenants/${tenantId}/move tells how far it is.`,
    });
  }

  /** The tenant is deleted. Answers the partitions of its newest move: something of it may be left there. */
  forget(tenant: number): readonly number[] {
    const move = this.moves.get(tenant);
    this.moves.delete(tenant);
    return move === undefined ? [] : [move.from, move.to];
  }

  get isMoving(): boolean {
    return [...this.moves.values()].some(({ finishedAt }) => finishedAt === null);
  }

  /** The newest move of the tenant. Throws tenant_not_found, and not_found when there is none. */
  get(tenantId: string): MoveView {
    return viewOf(this.newestOf(tenantId));
  }

  /** Throws conflict when the tenant has been handed over. */
  cancel(tenantId: string): MoveView {
    const move = this.newestOf(tenantId);
    if (!isUndecided(move)) throw new DbError("conflict", `The move of tenant "${tenantId}" is ${move.state}.`);
    this.end(move, "cancelled", null);
    this.settle(move);
    return viewOf(move);
  }

  heard(report: MoveReport): void {
    const move = this.moves.get(report.tenant);
    if (move === undefined || move.id !== report.move || move.finishedAt !== null) return;
    move.heardAt = this.options.now();
    if (report.did === "failed") this.fail(move, report.message);
    else if (report.did === "removed") {
      move.heldMs = report.heldMs;
      if (move.state === "cleaning") this.end(move, "done", null);
    } else if (!isUndecided(move)) return;
    else if (report.did === "receiving") {
      move.state = "copying";
      const { tenant, id, to, transactionsMs } = move;
      this.say(move.from, { do: "send", tenant, move: id, to, transactionsMs });
    } else if (report.did === "progress") {
      move.state = report.state;
      move.entries = report.entries;
      move.bytes = report.bytes;
    } else void this.switch(move);
  }

  /** A partition does not know whether it has these tenants: it was opened, or has heard nothing for a while. */
  unsettled(partition: number, tenants: readonly UnsettledTenant[]): void {
    for (const { tenant, move: name, goesOn } of tenants) {
      const move = this.liveOf(tenant);
      // Nothing may be reported until the record is on disk; then everybody is told.
      if (move?.state === "switching") continue;
      if (move !== null && isUndecided(move) && (name === null || name === move.id)) {
        if (goesOn) continue;
        this.fail(move, `partition ${partition} was opened again`);
      }
      this.settleAt([partition], tenant, name);
    }
  }

  /** In a cluster: whoever owned the partition is not reached, or is deposed. */
  partitionEnded(partition: number): void {
    for (const move of this.moves.values()) {
      if (isUndecided(move) && [move.from, move.to].includes(partition))
        this.fail(move, `partition ${partition} got another owner`);
      else if (move.state === "cleaning" && move.from === partition) this.end(move, "done", null);
    }
  }

  /** An actor's thread ended: what it was doing is lost. */
  actorEnded(actor: number): void {
    for (const move of this.moves.values()) {
      const isPart = [move.from, move.to].some((partition) => partition % this.options.actors === actor);
      if (isPart && isUndecided(move)) this.fail(move, "an actor that took part in it ended");
      // The source removes what is left when it is opened again, and nobody hears of it.
      else if (move.state === "cleaning" && move.from % this.options.actors === actor) this.end(move, "done", null);
    }
  }

  sweep(): void {
    const now = this.options.now();
    for (const move of this.moves.values()) {
      if (now - move.heardAt <= (this.options.silenceMs ?? SILENCE_MS_MAX)) continue;
      if (isUndecided(move)) this.fail(move, "nobody has reported of it");
      // Its source removes what is left, whoever hears of it.
      else if (move.state === "cleaning") this.end(move, "done", null);
    }
  }

  private async switch(move: Move): Promise<void> {
    move.state = "switching";
    const { directory } = this.options;
    try {
      const announce = directory.relocateTenant(move.tenantId, move.to);
      await this.options.durable();
      move.state = "cleaning";
      // In this order: the target serves before anything is sent there.
      const settled = { do: "settle", tenant: move.tenant, at: move.to, move: move.id } as const;
      this.say(move.to, settled);
      announce();
      this.say(move.from, settled);
    } catch (error) {
      // Whether it is done is not known here any more: who opens the directory next decides.
      if (isUnsure(error)) return;
      this.fail(move, error instanceof Error ? error.message : String(error));
    }
  }

  private fail(move: Move, message: string): void {
    if (move.finishedAt !== null || move.state === "cleaning") return;
    this.end(move, "failed", message);
    this.settle(move);
  }

  private settle({ id, tenant, from, to }: Move): void {
    this.settleAt([from, to], tenant, id);
  }

  /** Tells what the record says, when it is sure that this is still the directory. */
  private settleAt(partitions: readonly number[], tenant: number, move: string | null, refusals = 0): void {
    const at = this.options.directory.partitionOfNumber(tenant);
    if (at === null) return;
    const tell = (): void => {
      for (const partition of partitions) this.say(partition, { do: "settle", tenant, at, move });
    };
    this.options.durable().then(tell, (error: unknown) => {
      // A refused commit is undone, and says nothing of whose the directory is: a node that does not reach etcd has its
      // commits refused, too. Without an answer those who wait ask again.
      if (isRefusal(error) && refusals < REFUSALS_MAX) this.settleAt(partitions, tenant, move, refusals + 1);
    });
  }

  private end(move: Move, state: MoveState, error: string | null): void {
    move.state = state;
    move.error = error;
    move.finishedAt = this.options.now();
    this.options.directory.saveMove(recordOf(move));
  }

  private liveOf(tenant: number): Move | null {
    const move = this.moves.get(tenant);
    return move === undefined || move.finishedAt !== null ? null : move;
  }

  private newestOf(tenantId: string): Move {
    const move = this.moves.get(this.options.directory.placeOf(tenantId).number);
    if (move === undefined) throw new DbError("not_found", `Tenant "${tenantId}" was not moved recently.`);
    return move;
  }

  private forgetOldest(): void {
    for (const [tenant, { finishedAt }] of this.moves) {
      if (finishedAt === null) continue;
      this.moves.delete(tenant);
      this.options.directory.forgetMove(tenant);
      return;
    }
  }

  private say(partition: number, message: PlacementMessage): void {
    this.options.say({ kind: "placement", partition, message });
  }
}

/** The directory may be another node's, or its log has failed. */
function isUnsure(error: unknown): boolean {
  return error instanceof DbError && error.code === "partition_unavailable";
}

/** Nothing was written; the partition goes on. */
function isRefusal(error: unknown): boolean {
  return error instanceof DbError && ["disk_full", "log_unavailable", "overloaded"].includes(error.code);
}

function isUndecided({ state }: Move): boolean {
  return state === "preparing" || state === "copying" || state === "draining";
}

function recordOf({ transactionsMs, heardAt, ...record }: Move): MoveRecord {
  return record;
}

function viewOf(move: Move): MoveView {
  return {
    tenant: move.tenantId,
    from: move.from,
    to: move.to,
    state: move.state,
    copied_entries: move.entries,
    copied_bytes: move.bytes,
    started_at: new Date(move.startedAt).toISOString(),
    finished_at: move.finishedAt === null ? null : new Date(move.finishedAt).toISOString(),
    held_ms: move.heldMs,
    error: move.error,
  };
}
