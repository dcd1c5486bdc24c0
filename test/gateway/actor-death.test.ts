/**
 * An actor's thread that runs out of memory, at work or while it starts, several times in a row: the partition says so,
 * everything acknowledged is there when it is up again, and it always comes up again.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ResourceLimits, Worker } from "node:worker_threads";
import t, { type Test } from "tap";
import { loadConfig } from "../../src/config/load-config.js";
import { startGateway } from "../../src/gateway/gateway.js";
import { upgradeDataDirectory } from "../../src/storage/format-upgrade.js";
import { addPartitions } from "../../src/storage/installation.js";
import { sized } from "../lengths.js";
import { memoryLogger } from "./memory-logger.js";

t.setTimeout(300_000);

/** Enough to serve, and soon used up; and not enough to start. */
const SMALL: ResourceLimits = { maxOldGenerationSizeMb: sized(160, 256), maxYoungGenerationSizeMb: 8 };
const TINY: ResourceLimits = { maxOldGenerationSizeMb: 4, maxYoungGenerationSizeMb: 1 };
/** Reads what a statement may hold by its own account, which is more than the thread has. */
const GREEDY =
  "SELECT array_length(array_agg(upper(repeat(md5(i::text), 8000))), 1) FROM generate_series(1, 100000) AS i";

const dir = mkdtempSync(join(tmpdir(), "tessera-death-"));
const config = loadConfig({
  env: {
    TESSERA_DATA_DIR: dir,
    TESSERA_PORT: "0",
    TESSERA_ACTORS: "1",
    TESSERA_RATE_LIMIT_PER_SECOND: "0",
    TESSERA_QUERY_MEMORY_BYTES_MAX: String(2 ** 32),
  },
});
const secret = new Uint8Array(32).fill(3);
const { id: installation } = addPartitions(
  dir,
  await upgradeDataDirectory(dir, { keepsCopy: false, log: () => undefined }),
  1,
);
const { logger } = memoryLogger();
/** Of the threads that are started next; SMALL when there are no more. */
const limits: ResourceLimits[] = [];
let threads = 0;
const gateway = await startGateway({
  ...{ config, secret, logger, version: "1", actors: 1, partitions: 1, startInference: () => undefined },
  spawn() {
    threads++;
    const thread = new Worker(new URL("../../server/actor.cjs", import.meta.url), {
      resourceLimits: limits.shift() ?? SMALL,
      stdout: true,
      stderr: true,
    });
    thread.postMessage({
      ...{
        actor: 0,
        partitions: [0],
        partitionCount: 1,
        dataDirectory: dir,
        installation,
        config,
        secret,
        claimBundles: [],
      },
      adminPassword: "a password for tests",
    });
    return thread;
  },
});
t.teardown(async () => {
  await gateway.close();
  rmSync(dir, { recursive: true, force: true });
});

async function call(path: string, body: object, token?: string) {
  const response = await fetch(`http://127.0.0.1:${gateway.port}${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

const signIn = async () =>
  (await call("/v1/auth/login", { username: "admin", password: "a password for tests" })).body.access_token as string;
let token = await signIn();
const sql = (text: string) => call("/v1/query/execute", { sql: text }, token);

/** Until the partition serves again. */
async function served(): Promise<void> {
  for (;;) {
    const { status } = await sql("SELECT 1");
    if (status === 200) return;
    if (status === 401) token = (await signIn()) ?? token;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

await sql("CREATE TABLE kept (id int PRIMARY KEY)");
let rows = 0;

async function diesAndComesBack(t: Test, starts: number, what: string): Promise<void> {
  t.equal((await sql(`INSERT INTO kept VALUES (${rows++})`)).status, 200, what);
  const before = threads;
  const died = await sql(GREEDY);
  t.match([died.status, died.body.error.code], [503, "partition_unavailable"], what);
  await served();
  t.equal(threads - before, starts, `${what}: so many threads were started`);
  t.match((await sql("SELECT count(*) FROM kept")).body.data.rows, [[rows]], `${what}: what was acknowledged is there`);
}

t.test("at work", (t) => diesAndComesBack(t, 1, "at work"));

t.test("while it starts, twice in a row", async (t) => {
  limits.push(TINY, TINY);
  await diesAndComesBack(t, 3, "while it starts");
});
