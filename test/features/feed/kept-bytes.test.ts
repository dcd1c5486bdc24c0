/** Bytes that are kept for long must not keep the pools alive that they were cut from. */
import t from "tap";
import { KeptBytes } from "../../../src/features/feed/kept-bytes.js";

t.test("copies say the same and take about as much memory as their bytes", async (t) => {
  const kept = new KeptBytes();
  const sizes = Array.from({ length: 3000 }, (_, i) => [0, 1, 20, 60, 200, 3000, 9000][i % 7]!);
  const pool = Buffer.alloc(2 ** 20, "pool");
  const copies = sizes.map((size, i) => {
    const piece = pool.subarray(i, i + size);
    const copy = kept.copy(piece);
    t.not(copy.buffer, pool.buffer);
    return copy;
  });
  for (const [i, copy] of copies.entries())
    t.ok(Buffer.compare(copy, pool.subarray(i, i + sizes[i]!)) === 0, `copy ${i}`);
  const held = [...new Set(copies.map(({ buffer }) => buffer))].reduce((sum, { byteLength }) => sum + byteLength, 0);
  const needed = sizes.reduce((sum, size) => sum + size, 0);
  t.ok(held < 1.3 * needed, `${held} bytes are held for ${needed}`);
});

t.test("a long piece that is nearly all of its buffer is kept as it is", async (t) => {
  const long = new Uint8Array(10_000);
  t.equal(new KeptBytes().copy(long), long);
});
