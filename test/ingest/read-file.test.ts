/** Files are opened with care: inside the root, regular, bounded. */
import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { digestFile } from "../../src/ingest/parse/read-file.js";
import { ingestFolder } from "./ingest-folder.js";

t.test("only regular files inside the root", async (t) => {
  const outside = ingestFolder(t);
  const folder = ingestFolder(t);
  outside.write("secret.txt", "the secret");
  folder.write("plain.txt", "in the open");
  mkdirSync(join(folder.path, "deep"));
  symlinkSync(join(outside.path, "secret.txt"), join(folder.path, "out.txt"));
  symlinkSync(outside.path, join(folder.path, "out"));
  symlinkSync(join(folder.path, "plain.txt"), join(folder.path, "inside.txt"));
  symlinkSync("loop-b.txt", join(folder.path, "loop-a.txt"));
  symlinkSync("loop-a.txt", join(folder.path, "loop-b.txt"));
  execFileSync("mkfifo", [join(folder.path, "pipe.txt")]);

  t.equal(await folder.codeOf("plain.txt"), null);
  t.equal(await folder.codeOf("inside.txt"), null, "a link that stays inside");
  t.equal(await folder.codeOf("out.txt"), "forbidden");
  t.equal(await folder.codeOf("out/secret.txt"), "forbidden");
  t.equal(await folder.codeOf(`../${outside.path.split("/").at(-1)}/secret.txt`), "forbidden");
  t.equal(await folder.codeOf("loop-a.txt"), "forbidden");
  t.equal(await folder.codeOf("pipe.txt"), "file_unsupported", "a pipe does not hold the thread");
  t.equal(await folder.codeOf("deep"), "file_unsupported");
  t.equal(await folder.codeOf("../"), "forbidden");
  t.equal(await folder.codeOf("missing.txt"), "not_found");
  t.equal(await folder.codeOf("plain.txt/below.txt"), "not_found");
  t.equal(await folder.codeOf("x".repeat(4000)), "not_found");
  t.equal(await folder.codeOf("../../../../../dev/zero"), "forbidden");
  // A root whose name begins alike is another folder.
  renameSync(outside.path, `${folder.path}-b`);
  t.teardown(() => renameSync(`${folder.path}-b`, outside.path));
  t.equal(await folder.codeOf(`../${folder.path.split("/").at(-1)}-b/secret.txt`), "forbidden");
});

t.test("a sparse file of 2 GB is refused before it is read", async (t) => {
  const folder = ingestFolder(t);
  truncateSync(folder.write("sparse.txt", ""), 2 * 1024 ** 3);
  const before = process.memoryUsage().rss;
  t.equal(await folder.codeOf("sparse.txt"), "file_too_large");
  t.ok(process.memoryUsage().rss - before < 256 * 1024 * 1024);
});

t.test("digests", async (t) => {
  const folder = ingestFolder(t);
  const place = (name: string) => ({ path: join(folder.path, name), root: folder.path, bytesMax: 1_000_000 });
  writeFileSync(join(folder.path, "abc.txt"), "abc");
  writeFileSync(join(folder.path, "empty.txt"), "");
  const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  t.match(digestFile(place("abc.txt")), { digest: abc, bytes: 3 });
  t.match(await folder.parse("abc.txt"), { digest: abc, bytes: 3, characters: 3 });
  t.match(digestFile(place("empty.txt")), { bytes: 0 });
  t.strictSame((await folder.parse("empty.txt")).chunks, []);
});
