/** A whole actor that reads a copy of a partition: what another shard commits is appended to it as from a log. */
import t, { type Test } from "tap";
import { Actor } from "../../src/actor/actor.js";
import type { ActorTenures, OpenedCopy, TenuresHost } from "../../src/actor/actor-tenures.js";
import { loadConfig } from "../../src/config/load-config.js";
import { actorFeatures } from "../../src/features/actor-features.js";
import { ENDPOINTS } from "../../src/protocol/endpoints.js";
import {
  encodeCaller,
  encodeHead,
  encodePlace,
  REPLY_MOVED,
  REQUEST_READ_ONLY,
  REQUEST_STALE,
  REQUEST_STREAMED,
  RequestWriter,
  readReplies,
} from "../../src/protocol/frames.js";
import { type Moment, momentNow } from "../../src/protocol/moment.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { open } from "../conformance/sql-adapter.js";
import { memoryHost } from "./memory-host.js";

const NUMBER = 3;
/** As in sql-adapter.ts. */
const TENANT = 7;
const EXECUTE = ENDPOINTS.find(({ name }) => name === "query.execute")!;

interface Reply {
  readonly status: number;
  readonly flags: number;
  readonly headers: string;
  readonly body: string;
}

/** An owner, and the actor of a node that follows it as far as it is told. */
async function start(t: Test) {
  const log = new MemoryCommitLog();
  const owner = await open({ engine: new MemoryEngine(), log });
  t.teardown(() => owner.close());
  let host: TenuresHost | null = null;
  let copy: OpenedCopy | null = null;
  const state = { mayRead: true, behind: false, wait: Promise.resolve() };
  const follow = async (): Promise<void> => {
    for (const { sequence, micros, operations } of log.replay(copy!.log.lastSequence + 1))
      copy!.log.append([{ sequence, micros, operations: [...operations] }]);
    await copy!.log.sync();
  };
  const tenures: ActorTenures = {
    begin: (made) => {
      host = made;
    },
    replicate: async (_partition, local) => local,
    confirm: (_partition, send) => send(),
    freshCopy: async (): Promise<Moment | null> => {
      await state.wait;
      if (!state.mayRead) return null;
      copy ??= await host!.openCopy(NUMBER);
      if (!state.behind) await follow();
      return momentNow();
    },
    stop: async () => undefined,
    metrics: () => ({ leaseLeftSeconds: 1, takeovers: 0, logServiceBytes: 0, owned: [], copies: [] }),
    release: async () => undefined,
  };
  const waiting = new Map<number, (reply: Reply) => void>();
  const settings = {
    ...{ actor: 0, partitions: [NUMBER], partitionCount: 4, dataDirectory: t.testdir(), installation: "one" },
    ...{ config: loadConfig({ env: {} }), secret: new Uint8Array(32), claimBundles: [], adminPassword: null },
  };
  const actor = await Actor.open(
    settings,
    {
      frames: (buffer) =>
        readReplies(buffer, ({ id, status, flags, headers, body }) =>
          waiting.get(id)?.({ status, flags, headers, body: body.toString() }),
        ),
      control: () => undefined,
      ...memoryHost(t),
      tenures,
    },
    actorFeatures,
  );
  t.teardown(() => actor.receive({ kind: "close" }));
  let ids = 0;
  const ask = (sql: string, user = "ann", further = 0): Promise<Reply> =>
    new Promise((resolve) => {
      const id = ++ids;
      waiting.set(id, resolve);
      const writer = new RequestWriter();
      const caller = encodeCaller("u", user, "t", "", user === "boss" ? ["admin"] : ["member"]);
      const head = encodeHead(caller + encodePlace("", "", 0), "", "", "", []);
      const flags = REQUEST_STALE | REQUEST_READ_ONLY | further;
      const body = Buffer.from(JSON.stringify({ sql }));
      writer.request(id, EXECUTE.code, flags, NUMBER, TENANT, Date.now() + 10_000, "r", head, body);
      actor.receive(writer.take());
    });
  const cancel = (id: number): void => {
    const writer = new RequestWriter();
    writer.cancel(id);
    actor.receive(writer.take());
  };
  const rows = async (sql: string, user?: string): Promise<unknown> => {
    const { body, status } = await ask(sql, user);
    return status === 200 ? JSON.parse(body).data.rows : body;
  };
  return { owner, log, ask, cancel, lastId: () => ids, rows, state, copy: () => copy! };
}

t.test("a copy is read as its owner's commits come", async (t) => {
  const { owner, log, ask, rows, state, copy } = await start(t);
  t.equal((await ask("SELECT 1")).flags, REPLY_MOVED, "a tenant of which it has nothing may have come since");
  await owner.exec("CREATE TABLE board (id int PRIMARY KEY, owner text)");
  await owner.exec("INSERT INTO board VALUES (1, 'ann'), (2, 'bob'), (3, 'ann')");
  const first = await ask("SELECT count(*) FROM board");
  t.equal(first.status, 200);
  t.match(first.headers, /^X-Tessera-Stale-Ms: \d+$/m);
  t.same(await rows("SELECT id FROM board ORDER BY id"), [[1], [2], [3]]);

  await owner.exec("CREATE POLICY own ON board USING (owner = current_user)");
  await owner.exec("ALTER TABLE board ENABLE ROW LEVEL SECURITY");
  t.same(await rows("SELECT id FROM board ORDER BY id"), [[1], [3]], "policies hold");
  t.same(await rows("SELECT id FROM board ORDER BY id", "boss"), [[1], [2], [3]], "administrators see all");
  await owner.exec("REVOKE ALL ON board FROM member");
  t.match(await rows("SELECT id FROM board"), /permission denied for table board/, "privileges, too");

  await owner.exec("ALTER TABLE board ADD COLUMN note text DEFAULT 'new'");
  t.same(await rows("SELECT DISTINCT note FROM board", "boss"), [["new"]], "definitions follow");
  state.behind = true;
  await owner.exec("INSERT INTO board VALUES (4, 'ann', 'x')");
  t.same(await rows("SELECT count(*) FROM board", "boss"), [[3]], "it stays where it was");
  state.behind = false;
  t.same(await rows("SELECT count(*) FROM board", "boss"), [[4]]);

  const written = await ask("INSERT INTO board VALUES (5, 'ann', 'y')", "boss");
  t.same([written.flags, written.headers], [REPLY_MOVED, String(NUMBER)], "the owner refuses what writes");
  const agent = await ask("SELECT AGENT_RUN('You look.', 'Look.')", "boss");
  t.equal(
    agent.flags,
    REPLY_MOVED,
    "agents run at the owner before a model is asked: their traces and days are written",
  );
  t.equal(copy().log.lastSequence, log.lastSequence, "nothing was written here");
  state.mayRead = false;
  const elsewhere = await ask("SELECT 1");
  t.equal(elsewhere.flags, REPLY_MOVED);
  t.match(elsewhere.headers, /^3\nNo copy of the partition is at most 0 ms old: /);
  t.match(elsewhere.body, "SELECT 1", "with its body");
  state.mayRead = true;
  const streamed = await ask("SELECT 1", "ann", REQUEST_STREAMED);
  t.match(streamed, { status: 503, body: /partition_unavailable/ }, "pieces of a body are not read here");
  await copy().log.close();
});

t.test("a read that is cancelled while it waits for the copy does not run", async (t) => {
  const { owner, ask, cancel, lastId, state, copy } = await start(t);
  await owner.exec("CREATE TABLE board (id int)");
  t.equal((await ask("SELECT 1")).status, 200);
  let come = (): void => undefined;
  state.wait = new Promise((resolve) => {
    come = resolve;
  });
  const answers: string[] = [];
  void ask("SELECT 'cancelled'").then(() => answers.push("cancelled"));
  cancel(lastId());
  const other = ask("SELECT 'other'").then(() => answers.push("other"));
  come();
  await other;
  await ask("SELECT 'later'");
  t.same(answers, ["other"]);
  await copy().log.close();
});
