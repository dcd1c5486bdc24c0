/**
 * What a folder may hold to harm whoever reads it: each is refused or set aside with its error, the others are read,
 * and the server's memory stays bounded.
 */
import { execFileSync } from "node:child_process";
import { closeSync, openSync, readFileSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { deflateSync, gzipSync } from "node:zlib";
import t from "tap";
import yazl from "yazl";
import { filesOf, ROUTE, ready, TestFolder } from "./filesystem-folder.js";
import { TestServer } from "./server.js";

/**
 * MiB that reading a folder may add to the server at its peak: a thread with its heap, and what parsers take beside.
 */
const GROWTH_MIB_MAX = 900;

async function archive(entries: Readonly<Record<string, Buffer>>): Promise<Buffer> {
  const zip = new yazl.ZipFile();
  for (const [name, bytes] of Object.entries(entries)) zip.addBuffer(bytes, name);
  zip.end();
  const parts: Buffer[] = [];
  for await (const part of zip.outputStream) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/** A PNG whose header says that it is so large; its pixels are zeros, which pack to nearly nothing. */
function hugePng(side: number): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.writeUInt8(8, 8);
  const pixels = deflateSync(Buffer.alloc(20_000_000));
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", pixels),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function crc32(bytes: Buffer): number {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let k = 0; k < 8; k++) sum = (sum >>> 1) ^ (0xedb88320 & -(sum & 1));
  }
  return ~sum >>> 0;
}

function peakMib(pid: number): number | null {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;
  } catch {
    return null;
  }
}

t.test("a folder of hostile files", async (t) => {
  const folder = new TestFolder();
  const outside = new TestFolder();
  outside.put("secret.txt", "the secret of another folder");
  folder.put("good.txt", "An honest file among others.");
  folder.put(
    "garbage.pdf",
    Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.from(deflateSync(Buffer.alloc(50_000, 7)))]),
  );
  folder.put("bomb.docx", await archive({ "word/document.xml": Buffer.alloc(300 * 1024 * 1024) }));
  folder.put("bomb.xlsx", gzipSync(Buffer.alloc(1_000_000)));
  folder.put("huge.png", hugePng(20_000));
  folder.put("deep.json", "[".repeat(200_000));
  folder.put("entities.xml", `<!DOCTYPE a [<!ENTITY b "${"x".repeat(1000)}">]><a>${"&b;".repeat(10_000)}</a>`);
  folder.put("binary.txt", Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256)));
  closeSync(openSync(join(folder.root, "sparse.txt"), "w"));
  truncateSync(join(folder.root, "sparse.txt"), 2 * 1024 ** 3);
  symlinkSync(folder.root, join(folder.root, "loop"));
  symlinkSync("loop-b", join(folder.root, "loop-a"));
  symlinkSync("loop-a", join(folder.root, "loop-b"));
  symlinkSync(join(outside.root, "secret.txt"), join(folder.root, "link.txt"));
  symlinkSync(outside.root, join(folder.root, "way-out"));
  execFileSync("mkfifo", [join(folder.root, "pipe.txt")]);
  const server = await TestServer.start({ TESSERA_FILES_ROOTS: folder.root });
  t.teardown(async () => {
    await server.stop();
    folder.end();
    outside.end();
  });
  const before = peakMib(server.pid);
  const body = { name: "docs", watch_dir: folder.root, ocr_images: true };
  const made = (await server.expect(201, "POST", ROUTE, body)).body.data;
  const skipped = new Map(
    made.plan.skipped.map(({ path, reason }: { path: string; reason: string }) => [path, reason]),
  );
  for (const path of ["loop", "loop-a", "loop-b", "link.txt", "way-out"])
    t.match(skipped.get(path), /symbolic link/, path);
  t.match(skipped.get("pipe.txt"), /no ordinary file/);
  t.match(skipped.get("sparse.txt"), /2147483648 bytes/);
  await server.expect(403, "POST", ROUTE, { name: "other", watch_dir: join(folder.root, "way-out") });
  await server.expect(400, "POST", ROUTE, { name: "other", watch_dir: join(folder.root, "loop-a") });
  await ready(server, made.id);
  const files = new Map((await filesOf(server, made.id)).map((file) => [file.path, file]));
  t.same(
    [...files.keys()],
    folder.paths().filter((path) => path !== "pipe.txt"),
    "every file is accounted for",
  );
  t.equal(files.get("good.txt").status, "indexed");
  for (const [path, code] of [
    ["garbage.pdf", /^file_corrupt$/],
    ["bomb.docx", /^file_(too_large|corrupt)$/],
    ["bomb.xlsx", /^file_/],
    ["huge.png", /^file_too_large$/],
    ["deep.json", /^file_/],
    ["binary.txt", /^file_/],
    ["sparse.txt", /^file_too_large$/],
  ] as const) {
    t.match(files.get(path), { status: "failed", error_code: code, quarantined: true }, path);
  }
  t.same(
    await server.rows("SELECT count(*) FROM docs WHERE text LIKE '%secret%'"),
    [[0]],
    "nothing of outside came in",
  );
  const after = peakMib(server.pid);
  if (before === null || after === null) t.comment("memory is told on Linux only");
  else t.ok(after - before < GROWTH_MIB_MAX, `the peak grew by ${Math.round(after - before)} MiB`);
});
