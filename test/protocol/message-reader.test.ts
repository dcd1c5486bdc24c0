/** Texts in messages of PostgreSQL's protocol, as a server reads them. */
import t from "tap";
import { MessageFields, messagesOf } from "../../src/protocol/postgres/message-reader.js";
import { MessageWriter } from "../../src/protocol/postgres/message-writer.js";

const LETTER = "x".charCodeAt(0);

function message(text: string): Buffer {
  const writer = new MessageWriter();
  writer.begin(LETTER);
  writer.cstring(text);
  writer.int32(7);
  writer.end();
  return writer.take();
}

t.test("texts of every length and alphabet come back as they were sent", async (t) => {
  const ends = ["", "\u007f", "\u0080", "é", "🙂"];
  const texts = [0, 1, 30, 31, 32, 33, 64, 1000].flatMap((length) => ends.map((end) => "a".repeat(length) + end));
  const sent = Buffer.concat(texts.map(message));
  messagesOf(sent).forEach(({ fields }, i) => {
    t.equal(fields.cstring(), texts[i]);
    t.equal(fields.int32(), 7);
    fields.end();
  });
});

t.test("a text does not go on into the next message", async (t) => {
  for (const length of [3, 32, 40]) {
    const cut = Buffer.concat([Buffer.from("a".repeat(length)), Buffer.from("next\0")]);
    t.throws(() => new MessageFields(cut, 0, length).cstring(), { message: /no zero byte/ });
  }
});

t.test("bytes that are no text are refused", async (t) => {
  for (const bytes of [[0x80], [0x61, 0xff], [...Buffer.from("a".repeat(40)), 0xc3], [0x61, 0, 0x62]]) {
    const fields = new MessageFields(Buffer.from(bytes));
    t.throws(() => fields.text(bytes.length), { message: /invalid byte sequence/ });
  }
});
