/** Pieces of a file in one buffer: whatever is read between them, what is left follows what was read. */
import fc from "fast-check";
import t from "tap";
import { PieceBuffer } from "../../src/values/piece-buffer.js";

interface Step {
  readonly length: number;
  /** Of what is there, how much is read before the next piece, in hundredths. */
  readonly share: number;
}

const KIB = 1024;
const short = fc.integer({ min: 0, max: 40 });
const long = fc.constantFrom(900, 1000, 16 * KIB, 64 * KIB, 700 * KIB);
const step: fc.Arbitrary<Step> = fc.record({
  length: fc.oneof({ weight: 5, arbitrary: short }, { weight: 1, arbitrary: long }),
  share: fc.constantFrom(0, 1, 30, 60, 98, 99, 100),
});

t.test("all bytes are read once, in their order", async (t) => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
      const pieces = new PieceBuffer();
      let written = 0;
      let read = 0;
      const readTo = (position: number): void => {
        for (; pieces.position < position; pieces.position++, read++) {
          if (pieces.bytes[pieces.position] !== read % 251) throw new Error(`byte ${read} is another one`);
        }
      };
      for (const { length, share } of steps) {
        const { position } = pieces;
        const moved = pieces.push(Uint8Array.from({ length }, () => written++ % 251));
        t.equal(pieces.position, position - moved);
        t.equal(pieces.left, written - read);
        readTo(pieces.position + Math.floor((pieces.left * share) / 100));
      }
      readTo(pieces.bytes.length);
      return read === written;
    }),
    { numRuns: 100 },
  );
});

t.test("the ends of records are put before the next piece in memory that is used again", async (t) => {
  const pieces = new PieceBuffer();
  const memory = new Set<ArrayBufferLike>();
  for (let i = 0; i < 100; i++) {
    pieces.push(Buffer.alloc(64 * KIB - (i % 7), i));
    pieces.position = pieces.bytes.length - 100 - (i % 90);
    memory.add(pieces.bytes.buffer);
  }
  // The first piece stays as it came.
  t.equal(memory.size, 2);
});
