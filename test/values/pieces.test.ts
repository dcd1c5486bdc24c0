/**
 * Large bodies in pieces: the same values and the same refusals as when they are read at once, wherever the pieces end.
 */
import fc from "fast-check";
import { Packr } from "msgpackr";
import t from "tap";
import { JSON_DEPTH_MAX, OBJECT_MEMBERS_MAX } from "../../src/protocol/limits.js";
import { checkDepth, JsonFault, readJsonInPieces } from "../../src/values/json-pieces.js";
import { parseKeepingIntegers } from "../../src/values/json-text.js";
import { MsgpackFault, readMsgpack, readMsgpackInPieces } from "../../src/values/msgpack-pieces.js";

const turns = { shouldYield: () => true, yieldTurn: () => Promise.resolve() };
const packr = new Packr({ useRecords: false, variableMapSize: true });

const readJson = (text: string | Buffer, pieceBytes: number): Promise<unknown> =>
  readJsonInPieces(Buffer.from(text), turns, { parse: JSON.parse, pieceBytes });

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, 0, -1.5, 1e300, "", 'é"\\\n', "[{", "}],"),
    fc.string(),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(fc.constantFrom("", "a", "__proto__", "b,", 'q"', "ü"), tie("value"), { maxKeys: 4 }),
  ),
}));
const body = fc.oneof(fc.array(value), fc.dictionary(fc.string(), value));

t.test("JSON in pieces is the same value", async () => {
  await fc.assert(
    fc.asyncProperty(body, fc.integer({ min: 1, max: 40 }), fc.boolean(), async (json, pieceBytes, isSpaced) => {
      const text = isSpaced ? ` ${JSON.stringify(json, null, 1)}\n` : JSON.stringify(json);
      return JSON.stringify(await readJson(text, pieceBytes)) === JSON.stringify(JSON.parse(text));
    }),
    { numRuns: 500 },
  );
});

t.test("a long text is read in parts, whatever it is made of", async (t) => {
  const characters = fc.constantFrom("a", '"', "\\", "\n", "é", "€", "😀", "\u0001", "7", "{", ",", ":");
  const text = fc.array(characters, { minLength: 80, maxLength: 400 }).map((list) => list.join(""));
  const isEscaped = fc.boolean();
  await fc.assert(
    fc.asyncProperty(text, text, isEscaped, fc.integer({ min: 30, max: 60 }), async (a, b, escapes, pieceBytes) => {
      const json = { n: 1, b: { a, list: [a, 2, b] }, c: `${a}${b}`, z: [{ a }] };
      let body = JSON.stringify(json);
      const unit = (c: string) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;
      if (escapes) body = body.replaceAll(/[^\x20-\x7e]/g, unit);
      let longest = 0;
      const parse = (piece: string): unknown => {
        longest = Math.max(longest, piece.length);
        return JSON.parse(piece);
      };
      const got = await readJsonInPieces(Buffer.from(body), turns, { parse, pieceBytes });
      t.ok(longest <= 2 * pieceBytes + 40, `${longest} of ${pieceBytes}`);
      return JSON.stringify(got) === JSON.stringify(json);
    }),
    { numRuns: 60 },
  );
});

t.test("bytes that are no characters of UTF-8 are read once each", async (t) => {
  // Each of them looks like one within a character. Going back over all of them for each would take hours.
  const count = 1024 * 1024;
  const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(count, 0x80), Buffer.from('"}')]);
  const options = { parse: JSON.parse, pieceBytes: 64 * 1024 };
  const { a } = (await readJsonInPieces(body, turns, options)) as { a: string };
  t.equal(a, "\ufffd".repeat(count));
});

t.test("JSON that is wrong is refused, and nothing that is right", async () => {
  const change = fc.record({
    at: fc.nat(),
    with: fc.constantFrom("", ",", ":", "[", "]", "{", "}", '"', "1", " ", "\\", "a"),
  });
  await fc.assert(
    fc.asyncProperty(
      body,
      fc.integer({ min: 1, max: 30 }),
      change,
      fc.boolean(),
      async (json, pieceBytes, to, cuts) => {
        const right = JSON.stringify(json);
        const at = to.at % right.length;
        const text = right.slice(0, at) + to.with + right.slice(cuts ? at + 1 : at);
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          expected = JsonFault;
        }
        const isContainer = /^\s*[[{]/.test(text);
        if (!isContainer) return true;
        const got = await readJson(text, pieceBytes).catch((error: unknown) => {
          if (error instanceof JsonFault) return JsonFault;
          throw error;
        });
        return expected === JsonFault ? got === JsonFault : JSON.stringify(got) === JSON.stringify(expected);
      },
    ),
    { numRuns: 2000 },
  );
});

t.test("depth and members are bounded", async (t) => {
  const nested = (levels: number) => Buffer.from(`${"[".repeat(levels)}1${"]".repeat(levels)}`);
  checkDepth(nested(JSON_DEPTH_MAX));
  t.throws(() => checkDepth(nested(JSON_DEPTH_MAX + 1)), { kind: "depth" } as unknown as Error);
  // Brackets within texts count for nothing.
  checkDepth(Buffer.from(JSON.stringify(["[".repeat(5000), '"[{'.repeat(3000)])));
  t.ok(await readJson(nested(JSON_DEPTH_MAX), 100));
  await t.rejects(readJson(nested(JSON_DEPTH_MAX + 1), 100), { kind: "depth" } as unknown as Error);
  const object = (members: number) => `{${Array.from({ length: members }, (_, i) => `"k${i}":1`).join()}}`;
  t.equal(Object.keys((await readJson(object(OBJECT_MEMBERS_MAX), 10_000)) as object).length, OBJECT_MEMBERS_MAX);
  await t.rejects(readJson(`[${object(OBJECT_MEMBERS_MAX + 1)}]`, 10_000), { kind: "members" } as unknown as Error);
});

t.test("MessagePack in pieces is the same value", async () => {
  await fc.assert(
    fc.asyncProperty(body, fc.integer({ min: 1, max: 40 }), async (json, pieceBytes) => {
      const bytes = Buffer.from(packr.pack(json));
      const inPieces = await readMsgpackInPieces(bytes, turns, pieceBytes);
      // msgpackr reads the name __proto__ as __proto_.
      const plain = (value: unknown) => JSON.stringify(value).replaceAll('"__proto__"', '"__proto_"');
      return plain(inPieces) === plain(readMsgpack(bytes));
    }),
    { numRuns: 500 },
  );
  const values = [
    new Date(0),
    2n ** 63n,
    new Float32Array([1, 2]),
    Buffer.from("abc"),
    "x".repeat(70_000),
    -1e9,
    2 ** 40,
  ];
  const bytes = Buffer.from(packr.pack(values));
  for (const pieceBytes of [1, 10, 100, 1e6])
    t.same(await readMsgpackInPieces(bytes, turns, pieceBytes), readMsgpack(bytes));
});

t.test("MessagePack that is wrong is refused", async (t) => {
  const refused = async (bytes: Buffer, isTooLarge: boolean): Promise<void> => {
    t.throws(() => readMsgpack(bytes), { isTooLarge } as unknown as Error);
    await t.rejects(readMsgpackInPieces(bytes, turns, 16), { isTooLarge } as unknown as Error);
  };
  await refused(Buffer.concat([Buffer.alloc(5000, 0x91), Buffer.from([1])]), true);
  // Sizes that are only declared.
  await refused(Buffer.from([0x81, 0xa1, 0x61, 0xdd, 0x7f, 0xff, 0xff, 0xff]), false);
  await refused(Buffer.from([0xdb, 0x7f, 0xff, 0xff, 0xff, 0x61]), false);
  await refused(Buffer.from([0xdf, 0x00, 0x01, 0x00, 0x00, ...new Array(300_000).fill(0xc0)]), true);
  // A value that stands in many places of another, and a definition of records.
  const shared: unknown[] = [1];
  await refused(Buffer.from(new Packr({ structuredClone: true, useRecords: false }).pack([shared, shared])), false);
  await refused(Buffer.from(new Packr({ useRecords: true }).pack([{ a: 1 }, { a: 2 }])), false);
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 60 }), async (bytes) => {
      const read = async (how: () => unknown): Promise<string> => {
        try {
          return (
            JSON.stringify(await how(), (_, item) => (typeof item === "bigint" ? String(item) : item)) ?? "undefined"
          );
        } catch (error) {
          if (!(error instanceof Error)) throw error;
          return error instanceof MsgpackFault ? "fault" : "fault";
        }
      };
      const whole = await read(() => readMsgpack(Buffer.from(bytes)));
      const pieces = await read(() => readMsgpackInPieces(Buffer.from(bytes), turns, 4));
      return whole === pieces;
    }),
    { numRuns: 2000 },
  );
});

t.test("whole numbers that doubles do not hold are found wherever they stand", async () => {
  const digits = fc.integer({ min: 12, max: 22 }).map((length) => "9007199254740993123457".slice(0, length));
  const filler = fc.string({ maxLength: 40 });
  await fc.assert(
    fc.property(fc.array(fc.tuple(filler, digits), { minLength: 1, maxLength: 4 }), (list) => {
      const text = `[${list.map(([before, number]) => `${JSON.stringify(before)},${number}`).join()}]`;
      const read = parseKeepingIntegers(text) as unknown[];
      return list.every(([, number], i) => BigInt(read[2 * i + 1] as number) === BigInt(number));
    }),
    { numRuns: 300 },
  );
});
