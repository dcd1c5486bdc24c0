/**
 * Another process fills the disk to the last byte: reads are answered throughout, what needs room is refused, deletions
 * work, nothing that was acknowledged is lost, and after a kill the server starts. On a small file system of its own;
 * ROUNDS=20 for more.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { sized } from "../lengths.js";
import { TestServer } from "./server.js";

const ROUNDS = Number(process.env.ROUNDS ?? 1);
const ROWS = sized(2000, 20_000);
const FREE_BYTES_MIN = 100 * 2 ** 20;

const folder = t.testdir();
const mount = join(folder, "disk");
mkdirSync(mount);
const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=420m", "tmpfs", mount], { stdio: "ignore" });
t.setTimeout(200_000 + ROUNDS * 60_000);
const skip = mounted.status === 0 ? false : "a file system can only be mounted by root";

t.test("a disk that something else fills", { skip, timeout: 60_000 + ROUNDS * 20_000 }, async (t) => {
  t.teardown(() => spawnSync("umount", ["-l", mount]));
  const data = join(mount, "data");
  mkdirSync(data);
  const settings = {
    TESSERA_ACTORS: "1",
    TESSERA_STORAGE_FREE_BYTES_MIN: String(FREE_BYTES_MIN),
    TESSERA_STORAGE_RESERVE_BYTES: String(64 * 2 ** 20),
  };
  const server = await TestServer.start(settings, data);
  t.teardown(() => server.stop());
  const as = { token: await server.tenant("acme") };
  await server.rows("CREATE TABLE t (id int PRIMARY KEY, v text)", [], as);
  const kept = new Set<number>();
  let next = 0;
  const write = async (): Promise<number> => {
    const id = next++;
    const { status } = await server.sql("INSERT INTO t VALUES ($1, repeat('x', 20000))", [id], as);
    if (status === 200) kept.add(id);
    return status;
  };
  await write();
  for (let round = 0; round < ROUNDS; round++) {
    let isOver = false;
    const refused: unknown[] = [];
    const working = (async () => {
      while (!isOver) {
        await write();
        const { status, body } = await server.sql("SELECT id FROM t WHERE id = 0", [], as);
        if (status !== 200) refused.push(body);
        await sleep(sized(100, 0));
      }
    })();
    await sleep(300);
    fill(join(mount, "filler"));
    await sleep(1000);
    t.equal(await write(), 507);
    t.match((await server.call("GET", "/health/ready")).body, { ready: true, writes: "disk_full" });
    const some = [...kept].at(-1)!;
    t.equal((await server.sql("DELETE FROM t WHERE id = $1", [some], as)).status, 200, "deletions work");
    kept.delete(some);
    // What was given up is taken, too.
    fill(join(mount, "more"));
    await sleep(500);
    isOver = true;
    await working;
    t.same(refused, [], "reads are answered throughout");
    await server.kill();
    await server.boot();
    t.same(await server.rows("SELECT count(*) FROM t WHERE id = ANY ($1::int[])", [[...kept]], as), [[kept.size]]);
    for (const name of ["filler", "more"]) rmSync(join(mount, name));
    // With room again, writes are taken.
    while ((await write()) !== 200) await sleep(100);
  }
});

t.test("a start without a byte left and without a reserve", { skip, timeout: 100_000 + ROUNDS * 40_000 }, async (t) => {
  const disk = join(folder, "full");
  mkdirSync(disk);
  t.equal(spawnSync("mount", ["-t", "tmpfs", "-o", "size=420m", "tmpfs", disk]).status, 0);
  t.teardown(() => spawnSync("umount", ["-l", disk]));
  const data = join(disk, "data");
  mkdirSync(data);
  const server = await TestServer.start(
    {
      TESSERA_ACTORS: "2",
      TESSERA_STORAGE_FREE_BYTES_MIN: String(FREE_BYTES_MIN),
      TESSERA_STORAGE_RESERVE_BYTES: "0",
    },
    data,
  );
  t.teardown(() => server.stop());
  const as = { token: await server.tenant("acme") };
  await server.rows("CREATE TABLE t (id int PRIMARY KEY, v text)", [], as);
  await server.rows(`INSERT INTO t SELECT i, repeat('x', 1000) FROM generate_series(1, ${ROWS}) i`, [], as);
  await server.rows("CREATE INDEX ON t (v)", [], as);
  for (let round = 0; round < ROUNDS; round++) {
    await server.rows("INSERT INTO t VALUES ($1, 'late')", [-1 - round], as);
    const filler = keepFull(join(disk, "filler"));
    await sleep(500);
    await server.kill();
    await server.boot();
    for (let i = 0; i < 3; i++) {
      t.same(await server.rows("SELECT count(*), count(*) FILTER (WHERE id < 0) FROM t", [], as), [
        [ROWS + 1 + round, round + 1],
      ]);
      for (const statement of ["INSERT INTO t VALUES (0, '')", "UPDATE t SET v = ''", "DELETE FROM t WHERE id = 1"]) {
        t.match(
          await server.sql(statement, [], as),
          { status: 507, body: { error: { code: "disk_full" } } },
          statement,
        );
      }
      t.match((await server.call("GET", "/health/ready")).body, { ready: true, writes: "disk_full" });
      // The second time over what a start without room has left.
      if (i === 1) await server.kill().then(() => server.boot());
    }
    t.ok(
      server.lines.some((line) => line.includes("open for reading only")),
      "the log says so",
    );
    filler.kill("SIGKILL");
    await once(filler, "exit");
    rmSync(join(disk, "filler"));
    const write = async () => (await server.sql("UPDATE t SET v = 'new' WHERE id = $1", [round + 1], as)).status;
    while ((await write()) !== 200) await sleep(100);
    // The other actor may still be opening its partition anew.
    const ready = async () => (await server.call("GET", "/health/ready")).body;
    while ((await ready()).ready !== true) await sleep(100);
    t.match(await ready(), { ready: true, writes: "taken" });
    await server.kill();
    await server.boot();
    t.same(await server.rows("SELECT count(*) FROM t WHERE v = 'new'", [], as), [[round + 1]]);
    t.same(leftElsewhere(), [], "nothing is left in memory");
  }
});

/**
 * Takes every byte as soon as somebody gives it back, before the server can, so it goes ahead of what else runs here.
 * Starts no processes, which would cost more than the server.
 */
function keepFull(path: string): ChildProcess {
  const script = `exec 3<> <(:); while :; do while printf '%65536s' x >> "$1"; do :; done 2> /dev/null; read -t 0.01 -u 3; done`;
  return spawn("nice", ["-n", "-20", "bash", "-c", script, "fill", path]);
}

/** Of this or another installation: of tests that run at the same time none is without room. */
function leftElsewhere(): string[] {
  return readdirSync("/dev/shm").filter((name) => name.startsWith("tessera-"));
}

function fill(path: string): void {
  spawnSync("dd", ["if=/dev/zero", `of=${path}`, "bs=64k"], { stdio: "ignore" });
}
