/** Sessions of PostgreSQL's protocol and of Bolt whose clients are at several nodes, with real nodes. */
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import t from "tap";
import { BoltClient, begin, message as boltMessage } from "../e2e/bolt-client.js";
import { CANCEL_REQUEST, fieldsOf, int32, valuesOf, WireClient } from "../e2e/wire-client.js";
import { signIn } from "../e2e/wire-sign-in.js";
import { ClusterProcesses, type NodeProcess, PASSWORD } from "../torture/cluster/cluster-processes.js";
import { NO_ETCD } from "./etcd.js";

async function openWire(node: NodeProcess, name: string): Promise<WireClient> {
  return (await openWithKey(node, name)).client;
}

/** With what cancels its statements. */
async function openWithKey({ postgresPort }: NodeProcess, name: string): Promise<{ client: WireClient; key: Buffer }> {
  const client = await WireClient.connect(postgresPort);
  client.start({ user: "admin", application_name: name });
  await signIn(client, PASSWORD);
  const key = (await client.until("Z")).find(({ type }) => type === "K")!.body;
  return { client, key };
}

/** What a driver sends by a connection of its own. */
async function requestCancel({ postgresPort }: NodeProcess, key: Buffer): Promise<void> {
  const client = await WireClient.connect(postgresPort);
  client.send(int32(16), int32(CANCEL_REQUEST), key);
  await client.receive();
}

/** The first column; an error's message in its place. */
async function column(client: WireClient, sql: string): Promise<(string | null)[] | string> {
  const messages = await client.ask(sql);
  const error = messages.find(({ type }) => type === "E");
  if (error !== undefined) return fieldsOf(error).M!;
  return messages.filter(({ type }) => type === "D").map((row) => valuesOf(row)[0]!);
}

async function openBolt({ boltPort }: NodeProcess): Promise<BoltClient> {
  const client = await BoltClient.connect(boltPort);
  await client.start([5, 8], { user: "admin", password: PASSWORD });
  return client;
}

async function until(sees: () => Promise<boolean>): Promise<boolean> {
  for (let tries = 0; tries < 300; tries++) {
    if (await sees()) return true;
    await sleep(100);
  }
  return false;
}

t.test("sessions of clients at several nodes are apart, and end with their node", { skip: NO_ETCD }, async (t) => {
  const cluster = await ClusterProcesses.start(2, { etcdMembers: 1, hasWires: true });
  t.teardown(() => cluster.close());
  const [kept, killed] = cluster.nodes as [NodeProcess, NodeProcess];
  t.ok(await until(async () => (await cluster.get(kept, "/admin/tenants").catch(() => null))?.status === 200));
  const { data } = await cluster.get(kept, "/admin/tenants");
  const [{ partition }] = (data as { tenants: [{ partition: number }] }).tenants;
  await cluster.handOver(partition, kept.name);
  t.ok(await until(async () => (await cluster.ownerOf(partition)) === kept.name));
  const answers = (node: NodeProcess) => async () =>
    (await cluster.execute(node, "SELECT 1", []).catch(() => null))?.status === 200;
  t.ok((await until(answers(kept))) && (await until(answers(killed))));
  await cluster.execute(kept, "CREATE TABLE held (id int PRIMARY KEY, n int)", []);
  await cluster.execute(kept, "INSERT INTO held VALUES (1, 0), (2, 0)", []);

  await t.test("of PostgreSQL's protocol", async (t) => {
    const here = await openWire(kept, "here");
    const there = await openWire(killed, "there");
    t.same(await column(here, "BEGIN; UPDATE held SET n = 1 WHERE id = 1; SHOW application_name"), ["here"]);
    t.same(await column(there, "SHOW application_name; SELECT n FROM held WHERE id = 1"), ["there", "0"]);
    t.same(await column(there, "PREPARE mine AS SELECT 1; LISTEN news; SELECT pg_try_advisory_lock(1)"), ["t"]);
    t.same(await column(here, "SELECT count(*) FROM pg_prepared_statements"), ["0"]);
    t.same(await column(here, "SELECT pg_try_advisory_lock(1)"), ["f"]);
    const pids = await column(here, "SELECT pid FROM pg_stat_activity ORDER BY application_name");
    t.equal(new Set(pids).size, 2);
    t.same(await column(here, "COMMIT; SELECT pg_backend_pid()"), [pids[0]]);
    t.same(await column(there, "SELECT pg_backend_pid()"), [pids[1]]);
    here.close();
    t.same(await column(there, "SHOW application_name; SELECT n FROM held WHERE id = 1"), ["there", "1"]);
    there.close();
  });

  await t.test("whose procedures commit", async (t) => {
    const [here, there] = [await openWire(kept, "here"), await openWire(killed, "there")];
    await there.ask(`CREATE PROCEDURE fill(first int, last int) LANGUAGE plpgsql AS $$BEGIN
      FOR i IN first..last LOOP
        INSERT INTO held VALUES (i, i); COMMIT; IF i = 13 THEN RAISE EXCEPTION 'enough'; END IF;
      END LOOP; END$$`);
    t.same(await column(there, "CALL fill(10, 11)"), []);
    t.equal(await column(there, "CALL fill(12, 20)"), "enough");
    t.same(await column(here, "SELECT id FROM held WHERE id >= 10 ORDER BY id"), ["10", "11", "12", "13"]);
    here.close();
    there.close();
  });

  await t.test("of Bolt", async (t) => {
    const [here, there] = [await openBolt(kept), await openBolt(killed)];
    t.same(await here.rows("CREATE (:Other)"), []);
    t.equal((await here.ask(begin())).kind, "success");
    t.same(await here.rows("CREATE (p:Page {n: 1}) RETURN p.n"), [[1]]);
    t.same(await there.rows("MATCH (p:Page) RETURN count(p)"), [[0]]);
    t.equal((await here.ask(boltMessage("commit"))).kind, "success");
    here.close();
    t.same(await there.rows("MATCH (p:Page) RETURN count(p)"), [[1]]);
    there.close();
  });

  await t.test("whose drivers are told to go to the owner", async (t) => {
    const addressOf = ({ boltPort }: NodeProcess) => `127.0.0.1:${boltPort}`;
    const tableFrom = async (node: NodeProcess) => {
      const client = await openBolt(node);
      const { data } = await client.ask(boltMessage("route", { address: "elsewhere:1" }, [], {}));
      client.close();
      return Object.fromEntries(
        (data.rt.servers as { role: string; addresses: string[] }[]).map(({ role, addresses }) => [
          role,
          addresses.toSorted(),
        ]),
      );
    };
    const all = cluster.nodes.map(addressOf).toSorted();
    const told = { WRITE: [addressOf(kept)], READ: [addressOf(kept)], ROUTE: all };
    for (const node of cluster.nodes) t.same(await tableFrom(node), told, `asked at ${node.name}`);
    await cluster.handOver(partition, killed.name);
    const next = { WRITE: [addressOf(killed)], READ: [addressOf(killed)], ROUTE: all };
    for (const node of cluster.nodes) {
      const isTold = async () => isDeepStrictEqual(await tableFrom(node).catch(() => null), next);
      t.ok(await until(isTold), `${node.name} tells of the next owner`);
    }
    await cluster.handOver(partition, kept.name);
    t.ok(await until(async () => (await cluster.ownerOf(partition)) === kept.name));
    t.ok((await until(answers(kept))) && (await until(answers(killed))));
  });

  await t.test("cancelled and ended by clients of another node", async (t) => {
    for (const [its, other] of [
      [kept, killed],
      [killed, kept],
    ] as const) {
      const { client, key } = await openWithKey(its, "its");
      const asker = await openWire(other, "asker");
      const [pid] = (await column(client, "SELECT pg_backend_pid()")) as [string];
      const runs = `SELECT count(*) FROM pg_stat_activity WHERE pid = ${pid} AND state = 'active'`;
      const sleeps = async () => {
        const answer = column(client, "SELECT pg_sleep(600)");
        await until(async () => (await column(asker, runs))[0] === "1");
        return { answer };
      };
      let { answer } = await sleeps();
      t.same(await column(asker, `SELECT pg_cancel_backend(${pid})`), ["t"]);
      t.match(await answer, "canceling statement due to user request");
      ({ answer } = await sleeps());
      await requestCancel(other, Buffer.concat([key.subarray(0, 4), int32(~key.readInt32BE(4))]));
      await requestCancel(other, key);
      t.match(await answer, "canceling statement due to user request");
      t.same(await column(client, "SELECT 1"), ["1"], "the session goes on");
      t.same(await column(asker, `SELECT pg_terminate_backend(${pid})`), ["t"]);
      t.match(
        (await client.until("nothing more")).map(({ type }) => type),
        ["E"],
        "it is told, and ends",
      );
      asker.close();
    }
    for (const [its, other] of [
      [kept, killed],
      [killed, kept],
    ] as const) {
      const [bolt, asker] = [await openBolt(its), await openBolt(other)];
      t.equal((await bolt.ask(begin())).kind, "success");
      t.same(await bolt.rows("MATCH (p:Page) SET p.n = 9 RETURN p.n"), [[9]]);
      const shown = "SHOW TRANSACTIONS YIELD transactionId, currentQuery";
      const listed = (await asker.rows(shown)) as [string, string][];
      const [id] = listed.find(([, text]) => !text.startsWith("SHOW"))!;
      t.match(await asker.rows("TERMINATE TRANSACTIONS $id", { id }), [[id, "admin", /terminated/]]);
      t.equal((await bolt.ask(boltMessage("commit"))).kind, "failure");
      t.same(await asker.rows("MATCH (p:Page) RETURN p.n"), [[1]]);
      bolt.close();
      asker.close();
    }
  });

  await t.test("of a node that is killed", async (t) => {
    const [here, there, bolt] = [await openWire(kept, "here"), await openWire(killed, "there"), await openBolt(killed)];
    t.same(await column(there, "BEGIN; UPDATE held SET n = 2 WHERE id = 2 RETURNING n"), ["2"]);
    t.equal((await bolt.ask(begin())).kind, "success");
    t.same(await bolt.rows("MATCH (p:Page) SET p.n = 2 RETURN p.n"), [[2]]);
    await cluster.end(killed, "SIGKILL");
    const others = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'there'";
    t.ok(await until(async () => (await column(here, others))[0] === "0"));
    t.same(await column(here, "SET lock_timeout = '10s'; UPDATE held SET n = n + 3 WHERE id = 2 RETURNING n"), ["3"]);
    const own = await openBolt(kept);
    t.same(await own.rows("MATCH (p:Page) SET p.n = p.n + 3 RETURN p.n"), [[4]]);
    own.close();
    here.close();
  });
});
