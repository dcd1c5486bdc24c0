/**
 * Answers that are kept by Idempotency-Key, so that a retry gets the first answer instead of a second effect. One per
 * actor. The answer to a committed write is stored with the write, in the same transaction. An answer about something
 * in memory (an open transaction), or with a secret in it (a new API key), is kept in memory only.
 */
import { pack, unpack } from "msgpackr";
import { DbError } from "../protocol/errors.js";
import { REPLAYED } from "../protocol/frames.js";
import { VOLATILE_ANSWERS_MAX } from "../protocol/limits.js";
import type { Answer } from "../session/answer.js";
import type { Tenant } from "../session/tenant.js";
import { idempotencyKey, idempotencyPrefix, prefixRange } from "../storage/keys.js";
import type { Transaction } from "../storage/store.js";

interface Kept {
  /** Of the request that was answered. */
  readonly hash: string;
  readonly status: number;
  /** JSON text of the payload. */
  readonly json: string;
  readonly at: number;
}

/** A request with a key that is worked on for the first time; `done` ends the claim whatever came of it. */
export interface FirstClaim {
  readonly replay: null;
  keep(tx: Transaction, answer: Answer): void;
  keepInMemory(answer: Answer): void;
  done(): void;
}

/** The first claim, or the answer to give instead of working. */
export type Claim = FirstClaim | { readonly replay: Answer };

const SWEPT_AT_ONCE = 1000;

export class Idempotency {
  private readonly running = new Map<string, string>();
  private readonly volatile = new Map<string, Kept>();

  /** Where the next sweep of a tenant goes on, by tenant number. */
  private readonly sweptTo = new Map<number, Uint8Array>();

  constructor(private readonly windowMs: number) {}

  /**
   * @param owner the key counts per tenant and owner (owner.ts)
   * @param hash of the request, see validate.ts
   * @param status of a success, where the answer does not say another
   * Throws idempotency_conflict for another request under the same key, idempotency_in_progress while one runs.
   */
  claim(tenant: Tenant, owner: string, key: string, hash: string, status: number): Claim {
    const scope = `${owner}\u0000${key}`;
    const name = `${tenant.number}\u0000${scope}`;
    const runningHash = this.running.get(name);
    if (runningHash !== undefined)
      throw new DbError(runningHash === hash ? "idempotency_in_progress" : "idempotency_conflict");
    const kept = this.volatile.get(name) ?? this.read(tenant, scope);
    if (kept !== undefined && Date.now() - kept.at < this.windowMs) {
      if (kept.hash !== hash) throw new DbError("idempotency_conflict");
      return { replay: { json: kept.json, status: kept.status, headers: REPLAYED } };
    }
    this.running.set(name, hash);
    const entry = (answer: Answer): Kept => ({
      hash,
      status: answer.status ?? status,
      json: answer.json ?? JSON.stringify(answer.plain ?? null),
      at: Date.now(),
    });
    return {
      replay: null,
      keep: (tx, answer) => tx.put(idempotencyKey(tenant.number, scope), pack(entry(answer))),
      keepInMemory: (answer) => this.keepVolatile(name, entry(answer)),
      done: () => void this.running.delete(name),
    };
  }

  /** Deletes kept answers of the tenant that are older than the window; each call looks at the next thousand. */
  sweep(tenant: Tenant): void {
    const tx = tenant.partition.shard.begin({ isolation: "snapshot" });
    const range = prefixRange(idempotencyPrefix(tenant.number));
    const cursor = tx.scan({ ...range, gte: this.sweptTo.get(tenant.number) ?? range.gte });
    const { keys, values } = cursor.next(SWEPT_AT_ONCE);
    cursor.close();
    const oldest = Date.now() - this.windowMs;
    for (let i = 0; i < keys.length; i++) {
      if ((unpack(values[i]!) as Kept).at < oldest) tx.delete(keys[i]!);
    }
    if (keys.length < SWEPT_AT_ONCE) this.sweptTo.delete(tenant.number);
    else this.sweptTo.set(tenant.number, keys.at(-1)!);
    tenant.commit(tx);
  }

  /** Gives away the answers that are kept in memory for the tenant. */
  take(tenantNumber: number): [string, unknown][] {
    const taken = [...this.volatile].filter(([name]) => name.startsWith(`${tenantNumber}\u0000`));
    for (const [name] of taken) this.volatile.delete(name);
    this.sweptTo.delete(tenantNumber);
    return taken;
  }

  /** Keeps answers that `take` gave, here or in another actor. */
  restore(answers: readonly (readonly [string, unknown])[]): void {
    for (const [name, kept] of answers) this.keepVolatile(name, kept as Kept);
  }

  private read(tenant: Tenant, scope: string): Kept | undefined {
    const tx = tenant.partition.shard.begin({ readOnly: true });
    const value = tx.get(idempotencyKey(tenant.number, scope));
    tx.rollback();
    return value === undefined ? undefined : (unpack(value) as Kept);
  }

  private keepVolatile(name: string, kept: Kept): void {
    this.volatile.delete(name);
    this.volatile.set(name, kept);
    if (this.volatile.size > VOLATILE_ANSWERS_MAX) this.volatile.delete(this.volatile.keys().next().value!);
  }
}
