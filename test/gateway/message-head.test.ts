import fc from "fast-check";
import t from "tap";
import { readMessageHead } from "../../src/gateway/socket/message-head.js";

const read = (text: string) => readMessageHead(Buffer.from(text));

t.test("type and id, wherever they stand", async (t) => {
  t.same(read('{"type":"ping"}'), { type: "ping", id: "null" });
  t.same(read(' { "id" : 7 , "type" : "pi\\u006eg" } '), { type: "ping", id: "7" });
  t.same(read('{"a":{"type":"x","b":["}",{}]},"id":"q\\"1","type":"query"}'), { type: "query", id: '"q\\"1"' });
  t.same(read('{"type":"a","type":"b","id":1.5}'), { type: "a", id: "null" });
  t.same(read('{"type":7,"id":{}}'), { type: "", id: "null" });
  t.same(read("{}"), { type: "", id: "null" });
  // What follows is the actor's to judge.
  t.same(read('{"type":"query","id":1,"sql":'), { type: "query", id: "1" });
});

t.test("what is no object is told at once, and nothing runs on", async (t) => {
  for (const text of [
    "",
    "[]",
    "1",
    '"x"',
    "{",
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":"',
    '{"a":[',
    "{1:2}",
    '{"a" "b"}',
    "{]",
    "{,",
  ]) {
    t.equal(read(text), null, text);
  }
});

t.test("agrees with a parser on any object", async () => {
  const id = fc.oneof(fc.string(), fc.maxSafeInteger(), fc.double(), fc.constant(null));
  const object = fc.dictionary(fc.oneof(fc.constantFrom("type", "id", "ty", "sql"), fc.string()), fc.jsonValue());
  fc.assert(
    fc.property(object, fc.option(fc.string()), id, fc.nat(2), (rest, type, id, space) => {
      const text = JSON.stringify({ ...rest, ...(type === null ? {} : { type }), id }, null, space);
      const value = JSON.parse(text) as { type?: unknown; id?: unknown };
      const head = read(text)!;
      if (head.type !== (typeof value.type === "string" ? value.type : "")) return false;
      const known = (typeof value.id === "string" && text.length < 1000) || Number.isSafeInteger(value.id);
      return known ? head.id === JSON.stringify(value.id) : true;
    }),
  );
});

t.test("never throws, whatever comes", async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      readMessageHead(Buffer.from([0x7b, ...bytes]));
      return true;
    }),
  );
});
