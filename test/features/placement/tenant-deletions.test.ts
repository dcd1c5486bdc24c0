/** The directory's part in deleting tenants, where the disk refuses some of it, and beside restores. */
import { setImmediate as turn } from "node:timers/promises";
import t from "tap";
import type { Directory } from "../../../src/directory/directory.js";
import { RestoreOrders } from "../../../src/features/backup/restore-orders.js";
import { TenantDeletions } from "../../../src/features/placement/tenant-deletions.js";
import { DbError } from "../../../src/protocol/errors.js";
import type { FromActor } from "../../../src/protocol/messages.js";
import type { Commit } from "../../../src/storage/commit-log.js";
import { MemoryCommitLog } from "../../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../../src/storage/memory-engine.js";
import { Shard } from "../../../src/storage/shard.js";
import { openDirectory } from "../../directory/directory-fixture.js";

/** More than one commit removes. */
const USERS = 40;

class FillableLog extends MemoryCommitLog {
  /** Appends that it refuses. */
  refuses = 0;
  /** After so many more. */
  after = 0;

  override append(commits: readonly Commit[]): void {
    if (this.refuses > 0 && this.after-- <= 0) {
      this.refuses--;
      throw new DbError("disk_full");
    }
    super.append(commits);
  }
}

interface World {
  readonly log: FillableLog;
  readonly directory: Directory;
  readonly deletions: TenantDeletions;
  readonly said: FromActor[];
  /** The tenant's. */
  users(): number;
}

/** With the tenant "acme". */
async function open(): Promise<World> {
  const log = new FillableLog();
  let deletions: TenantDeletions | null = null;
  let undone = Number.POSITIVE_INFINITY;
  const shard = await Shard.open({
    ...{ engine: new MemoryEngine(), log },
    onFlushFailed: (first) => {
      undone = Math.min(undone, first);
      deletions?.reload();
    },
  });
  const { directory } = await openDirectory({}, { begin: (readOnly) => shard.begin({ readOnly }) });
  directory.createTenant({ id: "acme" });
  for (let i = 0; i < USERS; i++) {
    await directory.createUser("acme", { username: `user${i}`, password: "a password that is long", roles: ["user"] });
  }
  shard.flush();
  const endTurn = async (): Promise<void> => {
    shard.flush();
    await turn();
  };
  const said: FromActor[] = [];
  deletions = new TenantDeletions({
    ...{ directory, now: Date.now, turn: endTurn, requireAtRest: () => undefined, forget: () => [] },
    say: (message) => said.push(message),
    durable: async () => {
      undone = Number.POSITIVE_INFINITY;
      const wanted = shard.committedSequence;
      await endTurn();
      if (undone <= wanted) throw new DbError("disk_full");
    },
  });
  const users = () => directory.listUsers("acme", { limit: 100 }).total;
  return { log, directory, deletions, said, users };
}

t.test("where the disk refuses a deletion, the tenant keeps all that it has", async (t) => {
  const { log, deletions, said, users, directory } = await open();
  log.refuses = 1;
  await t.rejects(deletions.start("acme", "acme"), { code: "disk_full" });
  for (let i = 0; i < 5; i++) {
    deletions.sweep();
    await turn();
  }
  t.equal(users(), USERS);
  t.match(directory.getTenant("acme"), { id: "acme", is_active: true });
  t.throws(() => deletions.get("acme"), { code: "not_found" });
  t.same(said, []);
});

t.test("where the disk refuses a part of it, it goes on when there is room", async (t) => {
  for (let after = 1; after <= 3; after++) {
    const { log, deletions, said, directory } = await open();
    Object.assign(log, { refuses: 1, after });
    t.match(await deletions.start("acme", "acme"), { state: "removing" }, `after ${after} commits`);
    for (let i = 0; i < 10; i++) {
      deletions.sweep();
      await turn();
    }
    t.throws(() => directory.getTenant("acme"), { code: "tenant_not_found" });
    t.same(directory.tenantsPerPartition(), [1], "it is counted once");
    t.match(said.at(-1), { kind: "placement", partition: 0, message: { do: "delete", tenantId: "acme" } });
    t.equal(log.refuses, 0);
  }
});

t.test("a tenant whose backup another is being restored from stays until that has ended", (t) => {
  const place = { tenantId: "target", number: 3, partition: 0 };
  const order = { from: "source", backup: "b", store: "tenant", passphrase: null, untilMicros: null } as const;
  let restore = "";
  const orders = new RestoreOrders({
    say: (message) => {
      if (message.kind === "restore") restore = message.order.restore;
    },
    ...{ mark: () => ({}), now: () => 0, silenceMs: null },
  });
  orders.start(place, { ...order, replaces: true, isChecked: false });
  t.throws(() => orders.requireUnread("source"), { code: "conflict", message: /"target" is being restored/ });
  orders.requireUnread("sourc");
  orders.heard({ tenant: 3, restore, state: "completed", entries: 1, verified: true, error: null }, null);
  orders.requireUnread("source");
  t.end();
});
