/** A folder of checkpoints that does not answer: what is asked of it ends, and so does the process that asks. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import t, { type Test } from "tap";
import { checkFolder } from "../../src/cluster/check-folder.js";
import { FolderProcess } from "../../src/cluster/folder-process.js";

const MODULE = new URL("../../src/cluster/folder-process.js", import.meta.url).href;

/** Whoever opens a pipe waits until somebody opens its other end, in the kernel, as for NFS without its server. */
function hangs(path: string): void {
  if (spawnSync("mkfifo", [path]).status !== 0) throw new Error(`mkfifo ${path}`);
}

t.test("objects are put, got, listed and deleted by way of a process", async (t) => {
  const folder = t.testdir({ store: {}, file: "some bytes" });
  const store = new FolderProcess(join(folder, "store"));
  t.teardown(() => store.end());
  await store.check();
  await store.put("a/b", { path: join(folder, "file"), bytes: 10, digest: "" });
  t.same(await store.list("a/"), ["a/b"]);
  const { signal } = new AbortController();
  await store.get("a/b", join(folder, "got"), signal);
  t.equal(readFileSync(join(folder, "got"), "utf8"), "some bytes");
  await store.delete("a/b");
  t.same(await store.list("a/"), []);
  await t.rejects(store.get("a/b", join(folder, "x"), signal), { code: "not_found" });
  const none = new FolderProcess(join(folder, "none"));
  t.teardown(() => none.end());
  await t.rejects(none.check(), { code: "not_found", message: /does not exist/ });
  const missing = store.put("b/c", { path: join(folder, "none"), bytes: 0, digest: "" });
  await t.rejects(missing, { code: "partition_unavailable", message: /ENOENT/ });
});

t.test("what does not answer is given up, and the folder is asked again", async (t) => {
  const folder = t.testdir({ store: { whole: "x" } });
  hangs(join(folder, "store", "hung"));
  const store = new FolderProcess(join(folder, "store"), 1500);
  t.teardown(() => store.end());
  const get = (name: string, { signal } = new AbortController()): Promise<void> =>
    store.get(name, join(folder, "got"), signal);
  /** A process may take long to start here. */
  const again = async (): Promise<void> => {
    const isThere = (): Promise<boolean> =>
      get("whole").then(
        () => true,
        () => false,
      );
    for (let tries = 1; tries <= 20; tries++) if (await isThere()) return;
    t.fail("the folder does not answer any more");
  };
  await again();
  await t.rejects(get("hung"), { code: "partition_unavailable", message: /has not answered for 1.5 s/ });
  await again();
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error("stopped")), 50);
  await t.rejects(get("hung", stop), /stopped/);
  await again();
});

t.test("a node starts without a folder that does not answer, and not without one that is not there", async (t) => {
  const folder = t.testdir({ store: {} });
  const warnings: string[] = [];
  const check = (name: string, answerMsMax?: number): Promise<string | null> =>
    checkFolder(join(folder, name), (message) => warnings.push(message), answerMsMax);
  t.equal(await check("store"), null);
  t.match(await check("none"), /^cluster.checkpoints: .*does not exist.*make it, or mount it/);
  t.same(warnings, []);
  // No process begins so fast.
  t.equal(await check("store", 1), null);
  t.match(warnings, [/has not answered for 0.001 s\. No checkpoints are kept or used until it does/]);
});

/** A program's beginning: its folder process reads, as `hung`, a file that never answers. */
function hungIn(t: Test): string {
  const folder = t.testdir({ store: {} });
  hangs(join(folder, "store", "hung"));
  return `
    const { FolderProcess } = await import(${JSON.stringify(MODULE)});
    const store = new FolderProcess(${JSON.stringify(join(folder, "store"))});
    await store.check();
    const hung = store.get("hung", ${JSON.stringify(join(folder, "got"))}, new AbortController().signal);`;
}

t.test("a process whose folder hangs ends", async (t) => {
  const program = `${hungIn(t)}
    setTimeout(() => process.exit(7), 200);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: "inherit" });
  const late = setTimeout(() => child.kill("SIGKILL"), 20_000);
  const [code] = await once(child, "exit");
  clearTimeout(late);
  t.equal(code, 7);
});

t.test("a thread that ends leaves no process", async (t) => {
  const program = `${hungIn(t)}
    await Promise.all([hung.catch(() => undefined), store.end()]);
    process.exit(0);`;
  const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`));
  await once(thread, "exit");
  const children = execFileSync("ps", ["--ppid", String(process.pid), "-o", "stat=,args="], { encoding: "utf8" });
  t.notMatch(children, /^Z|folder/m);
});

t.test("a process that cannot be started says why", async (t) => {
  const folder = t.testdir({ store: {} });
  const program = `
    const { openSync } = await import("node:fs");
    const { FolderProcess } = await import(${JSON.stringify(MODULE)});
    const store = new FolderProcess(${JSON.stringify(join(folder, "store"))});
    await store.check();
    await store.end();
    const open = [];
    try { for (;;) open.push(openSync("/dev/null", "r")); } catch {}
    const why = await store.check().catch((error) => error);
    process.exitCode = /ended .*EMFILE/.test(why.message) ? 7 : 1;`;
  const child = spawn("sh", ["-c", 'ulimit -n 200; exec "$0" --input-type=module -e "$1"', process.execPath, program]);
  const [code] = await once(child, "exit");
  t.equal(code, 7);
});
