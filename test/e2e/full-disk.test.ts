/**
 * Another process fills the disk to the last byte: reads are answered throughout, what needs room is refused, deletions work, nothing that
 * was acknowledged is lost, and after a kill the server starts. On a small file system of its own; ROUNDS=20 for more.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { TestServer } from "./server.js";

const ROUNDS = Number(process.env.ROUNDS ?? 2);
const FREE_BYTES_MIN = 100 * 2 ** 20;

const mount = join(t.testdir(), "disk");
mkdirSync(mount);
const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=420m", "tmpfs", mount], { stdio: "ignore" });
t.setTimeout(60_000 + ROUNDS * 20_000);
const skip = mounted.status === 0 ? false : "a file system can only be mounted by root";

t.test("a disk that something else fills", { skip, timeout: 60_000 + ROUNDS * 20_000 }, async (t) => {
  t.teardown(() => spawnSync("umount", ["-l", mount]));
  const data = join(mount, "data");
  mkdirSync(data);
  const settings = { TESSERA_ACTORS: "1", TESSERA_STORAGE_FREE_BYTES_MIN: String(FREE_BYTES_MIN) };
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
    for (let i = 0; i < 100 && (await write()) !== 200; i++) await sleep(100);
    t.equal(await write(), 200, "with room again, writes are taken");
  }
});

function fill(path: string): void {
  spawnSync("dd", ["if=/dev/zero", `of=${path}`, "bs=64k"], { stdio: "ignore" });
}
