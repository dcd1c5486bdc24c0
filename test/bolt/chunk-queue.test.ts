/** Messages put together from chunks: the bounds before and after the sign-in, and that taking them is not slow. */
import t from "tap";
import { ChunkQueue } from "../../src/bolt/chunk-queue.js";

const KIB = 1024;

/** A message of one chunk. */
function chunked(...chunks: readonly Buffer[]): Buffer {
  const parts = chunks.flatMap((chunk) => [Buffer.from([chunk.length >> 8, chunk.length & 0xff]), chunk]);
  return Buffer.concat([...parts, Buffer.alloc(2)]);
}

const small = chunked(Buffer.from([0xb0, 0x0f]));
const bytes = (count: number): Buffer[] => Array.from({ length: count }, () => Buffer.from([1]));

function signedIn(bytesMax: number): ChunkQueue {
  const queue = new ChunkQueue();
  queue.signedIn(bytesMax);
  return queue;
}

t.test("before the sign-in few messages wait", async (t) => {
  const queue = new ChunkQueue();
  t.equal(queue.push(Buffer.concat(Array.from({ length: 32 }, () => small))).length, 32);
  t.throws(() => queue.push(small), { message: /more than 32 messages came before the sign-in/ });
});

t.test("a message as long as allowed, and a longer one", async (t) => {
  const queue = signedIn(100 * KIB);
  const half = Buffer.alloc(50 * KIB);
  t.equal(queue.push(chunked(half, half)).length, 1);
  t.throws(() => queue.push(chunked(half, half, Buffer.alloc(1))), { message: /longer than 102400 bytes/ });
});

t.test("chunks that are too short for a long message", async (t) => {
  t.equal(signedIn(100 * KIB).push(chunked(...bytes(1000))).length, 1);
  t.throws(() => signedIn(100 * KIB).push(chunked(...bytes(5000))), { message: /chunks are too short/ });
});

t.test("a group takes what there is room for, and one message at least", async (t) => {
  const queue = signedIn(KIB);
  queue.push(Buffer.concat([chunked(Buffer.alloc(900)), small, small, small]));
  t.equal(queue.group(0x02, 100)!.length, 904);
  t.equal(queue.group(0x02, 12)!.length, 12, "two of them");
  t.equal(queue.group(0x02, 12)!.length, 6);
  t.equal(queue.group(0x02, 12), null);
});

t.test("many small messages fill the queue, and are taken in order", async (t) => {
  const queue = signedIn(KIB);
  const count = 20_000;
  for (let i = 0; i < count; i++) {
    const message = Buffer.alloc(4);
    message.writeUInt32LE(i);
    queue.push(chunked(message));
  }
  t.ok(queue.isFull, "their bytes alone would not");
  for (let i = 0; i < count; i++) if (queue.one()!.readUInt32LE() !== i) t.fail(`message ${i} is another one`);
  t.equal(queue.one(), null);
  t.notOk(queue.isFull);
  t.equal(queue.push(small).length, 1);
  t.equal(queue.count(0x0f), 1);
  t.same(queue.group(0x02), Buffer.from([2, 0, 0, 0, 0xb0, 0x0f]));
});
