/** Memory that is given back at once, and what pieces of a body may be read until then. */
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import t from "tap";
import { BodySource } from "../../src/bodies/body-source.js";
import { filePieces } from "../../src/features/import/body-pieces.js";
import { REQUEST_HEADER_BYTES, REQUEST_LAST_PIECE, readRequests } from "../../src/protocol/frames.js";
import { freeBuffer, takeFreed } from "../../src/protocol/free-buffer.js";
import { GatheredPieces, keepSpareFrame, pieceFrame, SPARE_FRAME_BYTES } from "../../src/protocol/piece-frame.js";
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
  const freed: ArrayBuffer[] = [];
  takeFreed(SPARE_FRAME_BYTES, (memory) => freed.push(memory));
  const posted: ArrayBuffer[] = [];
  const pieces = new GatheredPieces((frame) => posted.push(frame));
  const whole = (fill: number) => new Uint8Array(SPARE_FRAME_BYTES - REQUEST_HEADER_BYTES).fill(fill);
  pieces.add(1, whole(1), false);
  const first = posted[0]!;
  freeBuffer(first);
  t.same(freed, [first]);
  const short = pieceFrame(1, whole(2).subarray(1), false);
  freeBuffer(short);
  t.equal(short.byteLength, 0, "others are freed");
  keepSpareFrame(first);
  pieces.add(7, whole(3), true);
  pieces.add(8, whole(4), false);
  t.equal(posted[1], first);
  t.not(posted[2], first, "it is used once");
  readRequests(posted[1]!, (frame) => {
    t.equal(frame.id, 7);
    t.equal(Buffer.compare(frame.bodyBytes, whole(3)), 0);
  });
});

t.test("pieces of a turn are put together, and nothing of them is lost", async () => {
  const READ = SPARE_FRAME_BYTES - REQUEST_HEADER_BYTES;
  const length = fc.oneof(fc.constantFrom(0, 1, READ - 1, READ, READ + 1, 2 * READ), fc.nat(3 * READ));
  const step = fc.record({ id: fc.constantFrom(1, 2), length, ends: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const sent = new Map<number, Buffer[]>();
      const got = new Map<number, Buffer[]>();
      const ended: number[] = [];
      const pieces = new GatheredPieces((memory) =>
        readRequests(memory, ({ id, bodyBytes, flags }) => {
          got.set(id, [...(got.get(id) ?? []), Buffer.from(bodyBytes)]);
          if ((flags & REQUEST_LAST_PIECE) !== 0) ended.push(id);
        }),
      );
      for (const [i, { id, length, ends }] of steps.entries()) {
        const piece = Buffer.alloc(length, i + 1);
        sent.set(id, [...(sent.get(id) ?? []), piece]);
        if (!pieces.holds(id)) pieces.end();
        pieces.add(id, piece, false);
        if (ends) pieces.end();
      }
      pieces.end();
      for (const id of sent.keys()) {
        pieces.add(id, Buffer.of(id), true);
        const [from, to] = [Buffer.concat([...sent.get(id)!, Buffer.of(id)]), Buffer.concat(got.get(id)!)];
        if (Buffer.compare(from, to) !== 0) throw new Error(`${from.length} bytes became ${to.length}, or others`);
      }
      if (`${ended}` !== `${[...sent.keys()]}`) throw new Error(`ended: ${ended}`);
    }),
    { numRuns: 40 },
  );
});
