/** Memory that is given back at once, and what pieces of a body may be read until then. */
import { gzipSync } from "node:zlib";
import t from "tap";
import { BodySource } from "../../src/bodies/body-source.js";
import { filePieces } from "../../src/features/import/body-pieces.js";
import { REQUEST_HEADER_BYTES, readRequests } from "../../src/protocol/frames.js";
import { freeBuffer, takeFreed } from "../../src/protocol/free-buffer.js";
import { keepSpareFrame, pieceFrame, SPARE_FRAME_BYTES } from "../../src/protocol/piece-frame.js";
import { CsvReader } from "../../src/values/csv-reader.js";

const BYTES = 100_000_000;

t.test("memory is gone when it is given back", async (t) => {
  const before = process.memoryUsage().arrayBuffers;
  const memory = new ArrayBuffer(BYTES);
  const view = new Uint8Array(memory);
  t.ok(process.memoryUsage().arrayBuffers >= before + BYTES);
  freeBuffer(memory);
  t.ok(process.memoryUsage().arrayBuffers < before + BYTES);
  t.equal(memory.byteLength, 0);
  t.equal(view.length, 0);
});

/** As the mailbox gives it the frames of a gateway: each piece in memory of its own. */
function sourceOf(pieces: readonly Uint8Array[]): { readonly source: BodySource; readonly memory: ArrayBuffer[] } {
  const source = new BodySource(() => {});
  const memory = pieces.map((piece, i) => pieceFrame(1, piece, i === pieces.length - 1));
  for (const [i, each] of memory.entries())
    readRequests(each, (frame) => source.arrived(frame.bodyBytes, i === pieces.length - 1));
  return { source, memory };
}

/** 20 rows a piece, none of which ends with a piece. */
function csvPieces(): { readonly pieces: readonly Buffer[]; readonly rows: readonly string[] } {
  const rows = Array.from({ length: 200 }, (_, i) => `${i},"text ""of"" ${"x".repeat(i % 50)}"`);
  const text = Buffer.from(`${rows.join("\n")}\n`);
  const length = Math.ceil(text.length / 10);
  const pieces = Array.from({ length: 10 }, (_, i) => text.subarray(i * length, (i + 1) * length));
  return { pieces, rows };
}

async function read(source: BodySource, contentEncoding: string): Promise<string[]> {
  const reader = new CsvReader(",", '"', 1_000_000);
  const found: string[] = [];
  const take = (isEnd: boolean): void => {
    while (reader.next(isEnd)) found.push(`${reader.text(0)},"${reader.text(1).replaceAll('"', '""')}"`);
  };
  for await (const piece of filePieces(source, contentEncoding, "utf-8")) {
    reader.push(piece);
    take(false);
  }
  take(true);
  return found;
}

t.test("a file's pieces are given back when they have been read, but for the last ones", async (t) => {
  const { pieces, rows } = csvPieces();
  const { source, memory } = sourceOf(pieces);
  t.same(await read(source, ""), rows);
  // The first is looked at for what it is, and copied.
  const left = memory.map(({ byteLength }) => byteLength > 0);
  t.same(left, [true, ...Array.from({ length: 8 }, () => false), true]);
});

t.test("a zipped file's are not: the thread that unzips reads them while the next ones come", async (t) => {
  const { pieces, rows } = csvPieces();
  const zipped = gzipSync(Buffer.concat(pieces));
  const half = zipped.length >> 1;
  const { source, memory } = sourceOf([zipped.subarray(0, half), zipped.subarray(half)]);
  t.same(await read(source, "gzip"), rows);
  t.ok(memory.every(({ byteLength }) => byteLength > 0));
});

t.test("nor is memory that has other pieces, too", async (t) => {
  const { pieces, rows } = csvPieces();
  const source = new BodySource(() => {});
  const frames = pieces.map((piece, i) => new Uint8Array(pieceFrame(1, piece, i === pieces.length - 1)));
  const shared = new Uint8Array(frames.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const frame of frames) {
    shared.set(frame, at);
    at += frame.length;
  }
  let arrived = 0;
  readRequests(shared.buffer, (frame) => source.arrived(frame.bodyBytes, ++arrived === frames.length));
  t.same(await read(source, ""), rows);
  t.ok(shared.buffer.byteLength > 0);
});

t.test("frames of whole reads are written into memory that was given back, and into no other", async (t) => {
  const taken: ArrayBuffer[] = [];
  takeFreed(SPARE_FRAME_BYTES, (memory) => taken.push(memory));
  const piece = (fill: number) => new Uint8Array(SPARE_FRAME_BYTES - REQUEST_HEADER_BYTES).fill(fill);
  const first = pieceFrame(1, piece(1), false);
  freeBuffer(first);
  t.same(taken, [first]);
  const short = pieceFrame(1, piece(2).subarray(1), false);
  freeBuffer(short);
  t.equal(short.byteLength, 0, "others are freed");
  keepSpareFrame(first);
  const second = pieceFrame(7, piece(3), true);
  t.equal(second, first);
  t.not(pieceFrame(1, piece(4), false), first, "it is used once");
  readRequests(second, (frame) => {
    t.equal(frame.id, 7);
    t.equal(Buffer.compare(frame.bodyBytes, piece(3)), 0);
  });
});
