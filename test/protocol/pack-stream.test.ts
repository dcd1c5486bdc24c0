/**
 * Our PackStream against that of Neo4j's driver, and against itself; bytes that are none. TEST_LENGTH makes more of
 * them.
 */

import { createRequire } from "node:module";
import fc from "fast-check";
import { int, isInt } from "neo4j-driver";
import t from "tap";
import { PackReader } from "../../src/protocol/bolt/pack-reader.js";
import { type PackValue, PackWriter } from "../../src/protocol/bolt/pack-writer.js";
import { DbError } from "../../src/protocol/errors.js";
import { told } from "../e2e/bolt-client.js";
import { tries } from "../lengths.js";

// It has no types, because it is not for everybody.
const { packstream, channel } = createRequire(import.meta.url)("neo4j-driver-bolt-connection");

/** Values that are plain in both. Floats are never integers here: the writer's `value` cannot tell them apart. */
const values = fc.letrec<{ value: PackValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(
      null,
      true,
      false,
      0,
      -16,
      -17,
      127,
      128,
      -128,
      -129,
      32_767,
      32_768,
      -32_769,
      2 ** 31,
      -(2 ** 31) - 1,
    ),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.double({ noInteger: true }),
    fc.string({ unit: "grapheme" }),
    fc.integer({ min: 0, max: 300 }).map((length) => "é".repeat(length)),
    fc.uint8Array({ maxLength: 300 }),
    fc.array(tie("value"), { maxLength: 20 }),
    fc.dictionary(fc.string(), tie("value"), { maxKeys: 20, noNullPrototype: true }),
  ) as fc.Arbitrary<PackValue>,
}));

function written(value: PackValue): Buffer {
  const writer = new PackWriter();
  writer.message(0x70, value);
  return writer.take();
}

/** Of chunks the content. */
function joined(chunks: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const length = chunks.readUInt16BE(at);
    if (length === 0) return Buffer.concat(parts);
    parts.push(chunks.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
}

/** As a text that tells integers from floats and does not care for the class of bytes. */
function text(value: unknown): string {
  if (typeof value === "bigint" || isInt(value)) return `i${value}`;
  if (typeof value === "number") return Number.isInteger(value) ? `i${value}` : `f${value}`;
  if (ArrayBuffer.isView(value))
    return `b${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("hex")}`;
  if (Array.isArray(value)) return `[${value.map(text).join()}]`;
  if (value instanceof Map) return text(Object.fromEntries(value));
  if (typeof value === "object" && value !== null) {
    return `{${Object.entries(value)
      .map(([key, each]) => `${JSON.stringify(key)}:${text(each)}`)
      .toSorted()
      .join()}}`;
  }
  return JSON.stringify(value);
}

/** As the driver wants to have them. */
function forDriver(value: PackValue): unknown {
  if (typeof value === "bigint") return int(value);
  if (typeof value === "number") return Number.isInteger(value) ? int(value) : value;
  if (value instanceof Uint8Array) return new Int8Array(value);
  if (Array.isArray(value)) return value.map(forDriver);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, forDriver(each as PackValue)]));
}

/** The driver's buffer over bytes. */
function channelBuffer(bytes: Buffer) {
  const buffer = channel.alloc(bytes.length);
  bytes.copy(buffer._buffer);
  return buffer;
}

const property = <T>(arbitrary: fc.Arbitrary<T>, holds: (value: T) => void): void =>
  fc.assert(fc.property(arbitrary, holds), { numRuns: tries(300) });

t.test("what is written is read, by us and by the driver", (t) => {
  property(values.value, (value) => {
    const bytes = joined(written(value));
    const reader = new PackReader(bytes);
    reader.message();
    const ours = text(reader.value());
    reader.end();
    if (ours !== text(value)) throw new Error(`${ours} is not ${text(value)}`);
    const buffer = channelBuffer(bytes);
    const theirs = new packstream.v1.Unpacker().unpack(buffer);
    if (text(theirs.fields[0]) !== ours) throw new Error(`the driver reads ${text(theirs.fields[0])}, not ${ours}`);
  });
  t.end();
});

t.test("what the driver writes is read", (t) => {
  property(values.value, (value) => {
    const pieces: Buffer[] = [];
    const buffer = channel.alloc(1 << 20);
    new packstream.v1.Packer(buffer).packable(forDriver(value))();
    pieces.push(Buffer.from(buffer._buffer.subarray(0, buffer.position)));
    const reader = new PackReader(Buffer.concat(pieces));
    const ours = text(reader.value());
    reader.end();
    if (ours !== text(value)) throw new Error(`${ours} is not ${text(value)}`);
  });
  t.end();
});

t.test("long messages are cut into chunks", (t) => {
  for (const length of [65_500, 65_531, 65_535, 65_536, 131_070, 131_071, 400_000]) {
    const writer = new PackWriter();
    writer.message(0x70, "before");
    writer.message(0x70, { x: "a".repeat(length) });
    writer.message(0x70, "after");
    const bytes = writer.take();
    const head = written("before").length;
    const message = bytes.subarray(head, bytes.length - written("after").length);
    t.equal(told(joined(message)).data.x.length, length);
    t.ok(bytes.subarray(bytes.length - written("after").length).equals(written("after")));
  }
  t.end();
});

t.test("bytes that are none are refused, and nothing is made of sizes that cannot be", (t) => {
  property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
    const reader = new PackReader(Buffer.from(bytes));
    try {
      reader.value();
      reader.end();
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
    }
  });
  const deep = Buffer.alloc(100_000, 0x91);
  for (const bytes of [
    [0xd6, 0xff, 0xff, 0xff, 0xff],
    [0xda, 0xff, 0xff, 0xff, 0xff],
    [0x82, 0x81, 0x61, 1, 0x81, 0x61, 2],
    [0x82, 0xc3],
    deep,
  ]) {
    t.throws(() => new PackReader(Buffer.from(bytes)).value(), { code: "invalid_request" });
  }
  t.end();
});
