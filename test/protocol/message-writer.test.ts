/** Numbers and texts in messages: the bytes that node's own writers give. */
import * as fc from "fast-check";
import t from "tap";
import { MessageWriter } from "../../src/protocol/postgres/message-writer.js";

function written(write: (writer: MessageWriter) => void): Buffer {
  const writer = new MessageWriter();
  write(writer);
  return writer.take();
}

const EDGES = [0, -0, 9, 10, 99, 100, 999_999_999, 1_000_000_000, 2 ** 31 - 1, -(2 ** 31), 2 ** 53 - 1, -(2 ** 53 - 1)];

t.test("whole numbers as digits and as eight bytes", async (t) => {
  const numbers = fc.oneof(
    fc.constantFrom(...EDGES),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
  );
  fc.assert(
    fc.property(numbers, (value) => {
      t.equal(written((writer) => writer.integer(value)).toString(), String(value));
      t.equal(written((writer) => writer.int64(value)).readBigInt64BE(), BigInt(value));
    }),
  );
});

t.test("integers of two and four bytes", async (t) => {
  for (const value of [0, 1, -1, 32_767, -32_768])
    t.equal(written((writer) => writer.int16(value)).readInt16BE(), value);
  for (const value of [0, 1, -1, 2 ** 31 - 1, -(2 ** 31)]) {
    t.equal(written((writer) => writer.int32(value)).readInt32BE(), value);
  }
});

t.test("texts of any length and any characters, as they are and escaped", async (t) => {
  const escapes = new Uint8Array(256);
  for (const character of "\\\tx") escapes[character.charCodeAt(0)] = character.charCodeAt(0);
  const texts = fc.oneof(
    fc.string({ maxLength: 80 }),
    fc.string({ unit: "binary", maxLength: 80 }),
    fc.constantFrom("", "é", "x".repeat(5000), "日本\t語".repeat(400)),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const bytes = Buffer.from(text);
      const escaped = text.replace(/[\\\tx]/g, "\\$&");
      t.equal(written((writer) => writer.text(text)).toString(), bytes.toString());
      t.equal(written((writer) => writer.sizedText(text)).readInt32BE(), bytes.length);
      t.strictSame(
        written((writer) => writer.utf8(bytes, 0, bytes.length)),
        bytes,
      );
      t.equal(written((writer) => writer.escapedText(text, escapes)).toString(), Buffer.from(escaped).toString());
      t.equal(
        written((writer) => writer.escapedUtf8(bytes, 0, bytes.length, escapes)).toString(),
        Buffer.from(escaped).toString(),
      );
    }),
  );
});
