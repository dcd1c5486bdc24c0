/**
 * Bytes change on the disk: in a file of RocksDB, its manifest, the commit log. It is found out and told, with the file
 * and what to do; nothing of it is given out as data; other partitions go on, also those of the same actor; and a
 * backup brings it back.
 */
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { TestServer } from "./server.js";

t.setTimeout(300_000);

const ROWS = 4000;
const PARTITIONS = 3;

interface Home {
  readonly token: string;
  readonly partition: number;
}

/** Three partitions with a tenant in each; all belong to one actor from the next start on. */
async function filled(t: Test): Promise<{ server: TestServer; homes: Home[]; environment: Record<string, string> }> {
  const environment: Record<string, string> = { TESSERA_ACTORS: String(PARTITIONS) };
  const server = await TestServer.start(environment);
  t.teardown(() => server.stop());
  const homes: Home[] = [];
  for (let i = 0; homes.length < PARTITIONS; i++) {
    const token = await server.tenant(`tenant${i}`);
    const { partition } = (await server.expect(200, "GET", `/admin/tenants/tenant${i}`)).body.data;
    if (homes.some((home) => home.partition === partition)) continue;
    await server.rows("CREATE TABLE entry (id integer PRIMARY KEY, note text)", [], { token });
    const sql = "INSERT INTO entry SELECT i, 'note ' || i || repeat(md5(i::text), 4) FROM generate_series(1, $1) AS i";
    await server.rows(sql, [ROWS], { token });
    homes.push({ token, partition });
  }
  environment.TESSERA_ACTORS = "1";
  // What was in memory goes to RocksDB's files when they are opened after a crash.
  await server.kill();
  await server.boot();
  await server.terminate();
  return { server, homes, environment };
}

const folderOf = (server: TestServer, partition: number): string => join(server.directory, `partition-${partition}`);

/** Flips bits of one byte in the largest file of that kind; gives its name. */
function damage(folder: string, pattern: RegExp, share: number): string {
  const names = readdirSync(folder).filter((name) => pattern.test(name));
  const name = names.sort((a, b) => statSync(join(folder, b)).size - statSync(join(folder, a)).size)[0]!;
  const bytes = readFileSync(join(folder, name));
  // The last bytes of a file of RocksDB are the number that says what it is.
  const at = Math.min(Math.floor(bytes.length * share), bytes.length - 4);
  bytes[at]! ^= 0x55;
  writeFileSync(join(folder, name), bytes);
  return name;
}

const ALL = "SELECT count(*), sum(length(note)) FROM entry";

async function serves(t: Test, server: TestServer, { token }: Home, what: string): Promise<void> {
  const [[count]] = (await server.rows(ALL, [], { token })) as [[number]];
  t.equal(count, ROWS, what);
  const insert = await server.sql("INSERT INTO entry VALUES ($1, 'new') ON CONFLICT (id) DO NOTHING", [1], { token });
  t.equal(insert.status, 200, `${what}, and takes writes`);
}

t.test("damaged files", async (t) => {
  const { server, homes } = await filled(t);
  const hurt = homes.find(({ partition }) => partition !== 0)!;
  const others = homes.filter((home) => home !== hurt);
  const folder = folderOf(server, hurt.partition);
  const backup = join(server.directory, "backup");
  cpSync(folder, backup, { recursive: true });
  const restore = (): void => {
    rmSync(folder, { recursive: true });
    cpSync(backup, folder, { recursive: true });
  };

  for (const [what, below, pattern, share] of [
    ["RocksDB's manifest", "rocksdb", /^MANIFEST/, 0.5],
    ["the end of a file of RocksDB", "rocksdb", /\.sst$/, 1],
    ["the commit log", "log", /\.log$/, 0.5],
  ] as const) {
    await t.test(`${what}: the partition is not served, the others are`, async (t) => {
      const file = damage(join(folder, below), pattern, share);
      server.lines.length = 0;
      await server.boot();
      for (const home of others) await serves(t, server, home, `partition ${home.partition} serves`);
      const reply = await server.sql(ALL, [], { token: hurt.token });
      t.match([reply.status, reply.body.error.code], [503, "partition_damaged"]);
      t.notMatch(JSON.stringify(reply.body), server.directory, "clients are told no paths");
      const health = (await server.call("GET", "/health", undefined, { token: null })).body.data;
      t.equal(health.status, "failed");
      t.equal(health.partitions[hurt.partition].status, "damaged");
      const log = server.lines.join("\n");
      t.match(log, file, "the log names the file");
      t.match(log, /estore a backup/, "and what to do");
      await server.expect(201, "POST", "/admin/tenants", { id: `later-${below}-${share}`.replaceAll(".", "-") });
      await server.terminate();
      restore();
    });
  }

  await t.test("a block in the middle of a file: what is in it is refused, the rest is read", async (t) => {
    const file = damage(join(folder, "rocksdb"), /\.sst$/, 0.4);
    server.lines.length = 0;
    await server.boot();
    for (const home of others) await serves(t, server, home, `partition ${home.partition} serves`);
    let refused = 0;
    for (let id = 1; id <= ROWS; id += 10) {
      const { status, body } = await server.sql("SELECT note FROM entry WHERE id = $1", [id], { token: hurt.token });
      if (status === 503) {
        t.equal(body.error.code, "partition_damaged");
        refused++;
      } else if (!String(body.data.rows[0]).startsWith(`note ${id}`))
        t.fail(`row ${id} is ${JSON.stringify(body.data.rows)}`);
    }
    t.ok(refused > 0 && refused < ROWS / 20, `${refused} of ${ROWS / 10} rows are refused`);
    t.equal((await server.sql(ALL, [], { token: hurt.token })).body.error?.code, "partition_damaged", "so is a scan");
    t.match(server.lines.join("\n"), file, "the log names the file");
    await server.terminate();
    restore();
  });

  await t.test("a backup brings it back", async (t) => {
    await server.boot();
    for (const home of homes) await serves(t, server, home, `partition ${home.partition} serves`);
    await server.terminate();
  });

  await t.test("the directory's partition: the server does not start, and says why", async (t) => {
    const file = damage(join(folderOf(server, 0), "rocksdb"), /^MANIFEST/, 0.5);
    server.lines.length = 0;
    await t.rejects(server.boot(), /ended with code 1/);
    t.match(server.lines.join("\n"), new RegExp(`Partition 0 cannot start.*${file}.*estore a backup`, "s"));
  });
});
