/** Inside a transaction an answer waits for the commits that it has seen, and for no others. */
import t from "tap";
import { Partition } from "../../../src/actor/partition.js";
import { loadConfig } from "../../../src/config/load-config.js";
import { isPlainStatement } from "../../../src/features/postgres/plain-statement.js";
import { bindMessage, executeMessage, Portals, parseMessage } from "../../../src/features/postgres/portals.js";
import { SeenCommits } from "../../../src/features/postgres/seen-commits.js";
import type { WireHost } from "../../../src/features/postgres/wire-host.js";
import { MessageFields } from "../../../src/protocol/postgres/message-reader.js";
import { MessageWriter } from "../../../src/protocol/postgres/message-writer.js";
import { Session } from "../../../src/session/session.js";
import { plainRows } from "../../../src/session/sql-result.js";
import type { BoundStatement } from "../../../src/sql/bind/bound-statement.js";
import { loadParser } from "../../../src/sql/parse/parse.js";
import { MemoryCommitLog } from "../../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../../src/storage/memory-engine.js";
import { Shard } from "../../../src/storage/shard.js";
import { HeldLog } from "../../storage/held-log.js";

const OPTIONS = {
  ...({ isolation: "read committed", control: "statements", waits: true } as const),
  ...{ readOnly: false, user: "u", tenantName: "t" },
};
const REQUEST = { checkpoint: () => undefined, shouldYield: () => false, yieldTurn: () => Promise.resolve() };

t.test("what answers of a session have seen", async (t) => {
  await loadParser();
  const log = new HeldLog();
  const shard = await Shard.open({ engine: new MemoryEngine(), log });
  t.teardown(() => shard.close());
  const partition = new Partition(0, shard, loadConfig({ env: {} }), () => undefined);
  const tenant = partition.tenant(1);
  const [one, other] = [new Session(tenant, OPTIONS), new Session(tenant, OPTIONS)];
  const seen = new SeenCommits(one, { tenant, partition } as ConstructorParameters<typeof SeenCommits>[1]);
  const execute = async (session: Session, sql: string) => {
    let bound: BoundStatement | null = null;
    const planned = (found: BoundStatement): void => {
      bound = found;
    };
    const run = { sql, params: [], maxRows: 1000, collector: plainRows, request: REQUEST, planned };
    const { command } = await session.execute(run, (tx) => tenant.commit(tx));
    return { command, isPlain: bound !== null && isPlainStatement(bound) };
  };
  const ask = async (sql: string) => {
    seen.begin();
    const { command, isPlain } = await execute(one, sql);
    seen.ran(command, isPlain);
    return seen.newest();
  };
  const commit = async (sql: string) => {
    await execute(other, sql);
    shard.flush();
    return shard.committedSequence;
  };
  await commit("CREATE TABLE account (id int PRIMARY KEY, balance int, note text)");
  await commit("INSERT INTO account SELECT n, 0, 'x' FROM generate_series(1, 9) n");
  await log.onDisk();
  const durable = shard.durableSequence;
  t.equal(await ask("SELECT balance FROM account WHERE id = 1"), null, "outside a transaction nobody says");
  const first = await commit("UPDATE account SET balance = 1 WHERE id = 1");
  t.ok(first > durable);
  t.ok((await ask("BEGIN"))! <= durable);
  for (const sql of [
    "UPDATE account SET balance = balance + 1 WHERE id = 2",
    "SELECT balance FROM account WHERE id = 2",
    "SELECT balance FROM account WHERE id = 3",
    "INSERT INTO account VALUES (20, 1, 'y')",
    "SAVEPOINT a",
  ]) {
    t.ok((await ask(sql))! <= durable, sql);
  }
  t.equal(await ask("SELECT balance FROM account WHERE id = 1"), first, "the row was changed");
  const second = await commit("UPDATE account SET balance = 1 WHERE id = 4");
  t.equal(await ask("SELECT balance FROM account WHERE id = 5"), first);
  t.equal(await ask("SELECT balance FROM account WHERE note = 'z'"), second, "a range may have had anything in it");
  t.equal(await ask("SELECT count(*) FROM pg_class"), null);
  t.equal(await ask("SELECT pg_relation_size('account')"), null);
  t.equal(await ask("COMMIT"), null);
  await ask("BEGIN");
  t.equal(await ask("COMMIT AND CHAIN"), null, "what was open has ended");
  await ask("ROLLBACK");
  await ask("BEGIN");
  const third = await commit("CREATE TABLE later (id int PRIMARY KEY)");
  t.ok((await ask("SELECT balance FROM account WHERE id = 5"))! >= third, "definitions were read");
  await ask("ROLLBACK");
  await log.onDisk();
});

t.test("rows that are fetched in parts may be of every commit", async (t) => {
  await loadParser();
  const shard = await Shard.open({ engine: new MemoryEngine(), log: new MemoryCommitLog() });
  t.teardown(() => shard.close());
  const partition = new Partition(0, shard, loadConfig({ env: {} }), () => undefined);
  const tenant = partition.tenant(1);
  const [one, other] = [new Session(tenant, OPTIONS), new Session(tenant, OPTIONS)];
  const execute = async (session: Session, sql: string) => {
    const run = { sql, params: [], maxRows: 1000, collector: plainRows, request: REQUEST };
    return (await session.execute(run, (tx) => tenant.commit(tx))).command;
  };
  await execute(one, "CREATE TABLE account (id int PRIMARY KEY)");
  await execute(one, "INSERT INTO account SELECT n FROM generate_series(1, 9) n");
  const request = { tenant, partition } as ConstructorParameters<typeof SeenCommits>[1];
  const seen = new SeenCommits(one, request);
  const writer = new MessageWriter();
  const host = { session: one, seen, writer, client: { ...REQUEST, begin: () => undefined, request } };
  const runs = { sent: "", run: () => t.fail("it is run whole"), complete: () => undefined };
  const wire = { ...host, runs, beginImplicit: () => undefined } as unknown as WireHost;
  const portals = { ...wire, portals: new Portals(wire) } as unknown as Parameters<typeof executeMessage>[0];
  const text = (...texts: string[]) => texts.map((each) => Buffer.from(`${each}\0`));
  const int16 = (value: number) => Buffer.of(value >> 8, value);
  const fields = (...parts: readonly Buffer[]) => new MessageFields(Buffer.concat(parts));
  seen.begin();
  seen.ran(await execute(one, "BEGIN"), true);
  t.not(seen.newest(), null);
  seen.begin();
  parseMessage(portals, fields(...text("", "SELECT id FROM account ORDER BY id"), int16(0)));
  bindMessage(portals, fields(...text("", ""), int16(0), int16(0), int16(0)));
  for (const part of ["the first rows", "further rows"]) {
    await execute(other, `INSERT INTO account VALUES (${part.length})`);
    seen.begin();
    await executeMessage(portals, fields(...text(""), int16(0), int16(2)));
    t.ok(writer.take().includes("s\0\0\0\x04"), "the portal is suspended");
    t.equal(seen.newest(), null, part);
  }
  await execute(one, "ROLLBACK");
});

t.test("what is noted as read was seen", async (t) => {
  const shard = await Shard.open({ engine: new MemoryEngine(), log: new MemoryCommitLog() });
  t.teardown(() => shard.close());
  const write = shard.begin();
  write.put(Buffer.from("a"), Buffer.from("1"));
  write.commit();
  const range = { gte: Buffer.from("a"), lt: Buffer.from("b") };
  for (const isRead of [true, false]) {
    for (const isFrozen of [true, false]) {
      const tx = shard.begin({ isolation: "read committed" });
      t.equal(tx.newestSeen, 0);
      t.equal((isFrozen ? tx.frozen(isRead) : tx).noteRead(range), false, "nothing is validated");
      t.equal(tx.newestSeen, shard.committedSequence);
      tx.rollback();
    }
  }
});
