/**
 * Rows of a table that is new in its transaction (CREATE TABLE AS, REFRESH), stored ahead of the commit: more of them
 * than a transaction holds in memory. They go to a storage that no definition names, in large commits of their own,
 * which take part in no snapshot. The transaction's commit makes the table's definition name it. Until then the storage
 * is marked as retired: if the transaction ends otherwise, or the process does, actor/remove-retired.ts removes what is
 * there.
 */
import { storageOf, type TableDef } from "../catalog/table.js";
import { LOAD_BYTES_MAX } from "../protocol/limits.js";
import type { ExecContext, UnseenTable } from "../query/exec/context.js";
import { prefixesOf } from "../query/exec/table-data.js";
import { requireRoom } from "../storage/branch-room.js";
import { commitUnseen, prepareUnseen } from "../storage/commit-unseen.js";
import { prefixRange, retiredKey, rowPrefix } from "../storage/keys.js";
import { Load } from "../storage/load.js";
import type { Shard } from "../storage/shard.js";
import type { ShardTransaction } from "../storage/transaction.js";
import type { Tenant } from "./tenant.js";

/**
 * Storage ids from here on are chosen here; those below count up with the definitions, and a rollback gives them back.
 */
const FIRST_ID = 2 ** 31;

export class UnseenRows implements UnseenTable {
  private moved: TableDef | null = null;
  /** Resolves when the engine has what was stored last. */
  private last: Promise<void> = Promise.resolve();
  private isMarked = false;
  private failure: unknown = null;

  constructor(
    readonly table: TableDef,
    private readonly tenant: Tenant,
    private readonly tx: ShardTransaction,
    private readonly context: ExecContext,
  ) {}

  get bytes(): number {
    return this.tenant.partition.shard.unseenBytes;
  }

  beginLoad(): Load {
    return new Load(this.tx.snapshot, LOAD_BYTES_MAX);
  }

  move(): TableDef {
    const { tenant, tx, table, context } = this;
    const storageId = this.freeStorage();
    const moved = Object.freeze({ ...table, storageId });
    context.rowNumbers.move(tenant.number, storageOf(table), storageId);
    tenant.catalog.change(tx, (editor) => {
      editor.replaceTable(Object.freeze({ ...editor.view.tableById(table.id)!, storageId }));
    });
    tenant.unseen.set(storageId, moved);
    tx.whenEnded(() => {
      tenant.unseen.delete(storageId);
      // If it did not commit, there is something to remove that no change of definitions tells of.
      const lookAgain = (): void => {
        tenant.retiredUpTo = -1;
        tenant.rememberedAt = null;
      };
      lookAgain();
      // The engine may get the marks only now, after somebody has looked.
      this.last.then(lookAgain, lookAgain);
    });
    this.moved = moved;
    return moved;
  }

  async store(load: Load): Promise<void> {
    const { tenant, context } = this;
    const { partition } = tenant;
    const own = partition.shard.begin({ isolation: "read committed" });
    try {
      if (!this.isMarked) for (const key of this.marks()) own.put(key, new Uint8Array(0));
      own.attach(load);
      // Waits until the engine has what was stored before.
      await prepareUnseen(own, context);
      this.refuseLost();
      // What it stored may be on its way out already if it was ended meanwhile.
      this.tx.requireOpen();
      requireRoom(partition.shard as Shard, tenant.number, own);
      this.last = commitUnseen(own);
    } finally {
      own.rollback();
    }
    this.last.catch((error: unknown) => {
      this.failure = error;
    });
    this.isMarked = true;
    partition.wroteSomething(tenant.number);
  }

  async stored(): Promise<void> {
    await this.last;
    this.refuseLost();
  }

  keep(): void {
    for (const key of this.marks()) this.tx.delete(key);
  }

  private refuseLost(): void {
    if (this.failure !== null) throw this.failure;
  }

  private marks(): readonly Uint8Array[] {
    const { tenant, context } = this;
    return prefixesOf(context, this.moved!).map((prefix) => retiredKey(tenant.number, prefix));
  }

  /** One under which nothing is stored, by nobody. */
  private freeStorage(): number {
    const { tenant } = this;
    const { shard } = tenant.partition;
    const now = shard.begin({ readOnly: true });
    try {
      for (let id = FIRST_ID + (shard.committedSequence % FIRST_ID); ; id = id + 1 < 2 * FIRST_ID ? id + 1 : FIRST_ID) {
        const prefix = rowPrefix(tenant.number, id);
        if (tenant.unseen.has(id) || now.get(retiredKey(tenant.number, prefix)) !== undefined) continue;
        const isNamed = tenant.catalog
          .view(now)
          .tables()
          .some((table) => storageOf(table) === id);
        const cursor = now.scan({ ...prefixRange(prefix), only: "keys" });
        const isEmpty = cursor.next(1).keys.length === 0;
        cursor.close();
        if (isEmpty && !isNamed) return id;
      }
    } finally {
      tenant.rollback(now);
    }
  }
}
