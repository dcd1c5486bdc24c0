/** The pure parts of watching: globs, allowed folders, pages of scans, what differs, and when changes are told. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import t from "tap";
import { type ChangedPaths, PathCollector } from "../../src/ingest/watch/changed-paths.js";
import { allowedFolder } from "../../src/ingest/watch/folder-roots.js";
import { comparePaths, type FileStatus } from "../../src/ingest/watch/found-file.js";
import { pathFilter } from "../../src/ingest/watch/path-filter.js";
import { certainOutside, reconcile } from "../../src/ingest/watch/reconcile.js";
import { lookAtFiles, type ScanJob, scanFolder } from "../../src/ingest/watch/scan-folder.js";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "tessera-watch-")));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

function put(path: string, text = path): void {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), text);
}

async function scan(job: Partial<ScanJob> & { root: string }) {
  const files: string[] = [];
  const skipped: string[] = [];
  let pages = 0;
  for (let after = ""; ; ) {
    const page = await scanFolder({ recursive: true, include: [], exclude: [], filesMax: 3, ...job, after });
    pages++;
    files.push(...page.files.map(({ path }) => path));
    skipped.push(...page.skipped.map(({ path, why }) => `${path}: ${why}`));
    if (page.next === null) return { files, skipped, pages };
    after = page.next;
  }
}

t.test("globs", async (t) => {
  const matches = (glob: string, path: string) => pathFilter({ include: [glob], exclude: [] }).file(path);
  for (const [glob, yes, no] of [
    ["*.md", ["a.md", "x/y/a.md"], ["a.mdx", "amd"]],
    ["docs/*.md", ["docs/a.md"], ["docs/x/a.md", "a.md"]],
    ["docs/**", ["docs/a.md", "docs/x/y"], ["other/docs", "adocs/x"]],
    ["**/old/*", ["old/a", "x/y/old/a"], ["old/a/b", "gold/a"]],
    ["*.{md,txt}", ["a.md", "b/c.txt"], ["a.mt"]],
    ["[ab]?.c", ["a1.c", "x/b2.c"], ["c1.c", "a12.c"]],
    ["[!a]*", ["b"], ["a1"]],
    ["a+(b)$.txt", ["a+(b)$.txt"], ["aab.txt"]],
  ] as const) {
    if (glob.endsWith("/**")) continue;
    for (const path of yes) t.ok(matches(glob, path), `${glob} is about ${path}`);
    for (const path of no) t.notOk(matches(glob, path), `${glob} is not about ${path}`);
  }
  const hidden = pathFilter({ include: [], exclude: ["**/.*", "build/**"] });
  t.same(
    [".git", "a/.git", "build", "builds"].map((path) => hidden.folder(path)),
    [false, false, false, true],
    "folders that are left out are not entered",
  );
  t.throws(() => pathFilter({ include: ["a{b"], exclude: [] }), { code: "invalid_request" });
  t.throws(() => pathFilter({ include: [], exclude: ["[a"] }), { code: "invalid_request" });
  const slow = pathFilter({ include: [`${"*a".repeat(40)}b`], exclude: [] });
  t.notOk(slow.file("a".repeat(1000)), "a pattern cannot make a scan slow");
});

t.test("a scan gives all files in order, whatever the size of its pages", async (t) => {
  for (const path of ["b.txt", "a/z.txt", "a.txt", "a/b/c.txt", "a/b.txt", "a-b/x.txt", "ä/ö.txt", "Z"]) put(path);
  put(".git/config");
  put("a/.hidden");
  symlinkSync(folder, join(folder, "a", "loop"));
  symlinkSync("/etc/passwd", join(folder, "passwd"));
  const rules = { root: folder, exclude: ["**/.*"] };
  const all = await scan({ ...rules, filesMax: 1000 });
  t.same(
    all.files,
    ["b.txt", "a/z.txt", "a.txt", "a/b/c.txt", "a/b.txt", "a-b/x.txt", "ä/ö.txt", "Z"].sort(comparePaths),
  );
  t.equal(all.pages, 1);
  t.same(all.skipped.map((line) => line.split(":")[0]).sort(), ["a/loop", "passwd"], "links are told, not followed");
  for (const filesMax of [1, 2, 3, 5]) {
    const paged = await scan({ ...rules, filesMax });
    t.same(paged.files, all.files, `${filesMax} a page`);
    t.ok(paged.pages > 1);
  }
  t.same((await scan({ ...rules, recursive: false })).files, ["Z", "a.txt", "b.txt"]);
  t.same((await scan({ ...rules, include: ["b*"] })).files, ["a/b.txt", "b.txt"]);
  await t.rejects(
    scan({ root: join(folder, "nothing") }),
    /is not there/,
    "a folder that is not there is no empty one",
  );
  const looked = await lookAtFiles({
    ...rules,
    include: [],
    recursive: true,
    paths: ["a/b.txt", "a/loop/b.txt", "passwd", "../x", ".git/config", "nothing", "a"],
  });
  t.same(
    looked.map(({ path }) => path),
    ["a/b.txt"],
    "single paths are seen as a scan sees them",
  );
});

t.test("only folders that the operator lists", async (t) => {
  put("open/in/a.txt");
  put("closed/secret.txt");
  symlinkSync(join(folder, "closed"), join(folder, "open", "way-out"));
  symlinkSync(join(folder, "open"), join(folder, "other-name"));
  const roots = [join(folder, "open"), `acme:${join(folder, "closed")}`];
  const allowed = async (path: string, tenant = "other", list = roots) =>
    (await allowedFolder(list, tenant, path)).path;
  t.equal(await allowed(join(folder, "open")), join(folder, "open"));
  t.equal(await allowed(`${folder}/open/in/`), join(folder, "open", "in"));
  t.equal(await allowed(`${folder}/other-name/in`), join(folder, "open", "in"), "by where it really is");
  t.equal(await allowed(join(folder, "closed"), "acme"), join(folder, "closed"), "a root of one tenant");
  for (const path of [
    join(folder, "closed"),
    `${folder}/open/../closed`,
    `${folder}/open/way-out`,
    `${folder}/openness`,
    "/etc",
    "/",
    "/no/such/folder",
    "open",
    "",
    `${folder}/open\0/x`,
  ]) {
    await t.rejects(allowed(path), { code: "forbidden" }, path);
  }
  await t.rejects(allowed(`${folder}/open/nothing`), { code: "invalid_request", message: /does not exist/ });
  await t.rejects(allowed(`${folder}/open/in/a.txt`), { code: "invalid_request", message: /not a folder/ });
  const error = await allowed(folder, "other", []).catch((thrown) => thrown);
  t.equal(error.code, "forbidden");
  t.match(error.details.hint, /\[files\].*TESSERA_FILES_ROOTS/, "without any the setting is named");
});

t.test("reconciling makes records agree with the folder", async () => {
  const paths = fc.constantFrom("a", "b", "c/d", "c/e", "f");
  const files = fc.dictionary(paths, fc.constantFrom("1", "2"), { noNullPrototype: true });
  const records = fc.dictionary(
    paths,
    fc.record({
      stamp: fc.constantFrom("1", "2"),
      status: fc.constantFrom<FileStatus>("pending", "indexed", "failed", "gone"),
    }),
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(files, records, fc.boolean(), (folder, before, cIsUnreadable) => {
      const seen = Object.entries(folder).filter(([path]) => !cIsUnreadable || !path.startsWith("c/"));
      const found = seen.map(([path, stamp]) => ({ path, stamp, size: 1 }));
      const known = Object.entries(before).map(([path, record]) => ({ path, ...record }));
      const { added, changed, gone } = reconcile(found, known, certainOutside(cIsUnreadable ? ["c/"] : []));
      const after = new Map<string, { stamp: string; status: FileStatus }>(Object.entries(before));
      for (const { path, stamp } of [...added, ...changed]) after.set(path, { stamp, status: "pending" });
      for (const path of gone) after.set(path, { ...after.get(path)!, status: "gone" });
      for (const [path, stamp] of seen) if (after.get(path)?.stamp !== stamp) return false;
      for (const [path, { status }] of after) {
        const isThere = seen.some(([other]) => other === path);
        if (isThere === (status === "gone") && !(cIsUnreadable && path.startsWith("c/"))) return false;
      }
      // What agrees already is left alone.
      const again = reconcile(
        found,
        [...after].map(([path, record]) => ({ path, ...record })),
        certainOutside(cIsUnreadable ? ["c/"] : []),
      );
      return again.added.length + again.changed.length + again.gone.length === 0;
    }),
  );
});

t.test("changes are told when it is quiet, or after a while", async (t) => {
  let now = 0;
  let waiting: { at: number; call: () => void } | null = null;
  const told: ChangedPaths[] = [];
  const collector = new PathCollector({ quietMs: 10, waitMsMax: 35, pathsMax: 3 }, (changed) => told.push(changed), {
    now: () => now,
    later: (ms, call) => {
      const mine = { at: now + ms, call };
      waiting = mine;
      return () => {
        if (waiting === mine) waiting = null;
      };
    },
  });
  const pass = (ms: number) => {
    now += ms;
    if (waiting !== null && waiting.at <= now) {
      const { call } = waiting;
      waiting = null;
      call();
    }
  };
  collector.add("a");
  pass(5);
  collector.add("a");
  collector.add("b");
  pass(5);
  t.same(told, [], "it was not quiet for long enough");
  pass(5);
  t.same(told.splice(0), [{ paths: ["a", "b"] }]);
  for (let i = 0; i < 5; i++) {
    collector.add("x");
    pass(7);
  }
  t.same(told.splice(0), [{ paths: ["x"] }], "a file that is written all the time is told now and then");
  for (const path of ["a", "b", "c", "d"]) collector.add(path);
  pass(10);
  t.same(told, [{ paths: null }], "too many are told as all");
});
