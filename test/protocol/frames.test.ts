/** Frames survive the crossing, whatever is in them, and many share one buffer. */
import fc from "fast-check";
import t from "tap";
import {
  CANCEL_CODE,
  encodeCaller,
  encodeHead,
  type ReplyFrame,
  ReplyWriter,
  type RequestFrame,
  RequestWriter,
  readReplies,
  readRequests,
} from "../../src/protocol/frames.js";
import { pieceFrame } from "../../src/protocol/piece-frame.js";

const text = fc.string({ unit: "grapheme" }).map((value) => value.replaceAll("\u0000", ""));
const requestId = fc.stringMatching(/^[A-Za-z0-9._-]{1,64}$/);

t.test("a piece by itself is as a piece among others", async () => {
  fc.assert(
    fc.property(fc.nat(2 ** 32 - 1), fc.uint8Array({ maxLength: 100_000 }), fc.boolean(), (id, body, isLast) => {
      const writer = new RequestWriter();
      writer.piece(id, body, isLast);
      if (Buffer.compare(Buffer.from(writer.take()), Buffer.from(pieceFrame(id, body, isLast))) !== 0) {
        throw new Error("they differ");
      }
    }),
  );
});

t.test("requests", async () => {
  const request = fc.record({
    id: fc.nat(),
    code: fc.nat(500),
    flags: fc.constantFrom(0, 2, 4, 8, 16),
    partition: fc.nat(1000),
    tenant: fc.nat(),
    deadline: fc.double({ min: 0, max: 1e15, noNaN: true }),
    requestId,
    caller: fc.tuple(text, text, text, text, fc.array(fc.constantFrom("admin", "user"), { maxLength: 2 })),
    rateLimit: fc.option(fc.record({ perSecond: fc.nat(), burst: fc.nat() }), { nil: undefined }),
    rest: fc.tuple(text, text, text, fc.array(text, { maxLength: 3 })),
    body: fc.option(fc.uint8Array({ maxLength: 200_000 }), { nil: null }),
  });
  fc.assert(
    fc.property(fc.array(request, { maxLength: 8 }), (requests) => {
      const writer = new RequestWriter();
      for (const r of requests) {
        const head = encodeHead(encodeCaller(...r.caller, { rateLimit: r.rateLimit ?? null }), ...r.rest);
        writer.request(r.id, r.code, r.flags, r.partition, r.tenant, r.deadline, r.requestId, head, r.body);
      }
      const frames: RequestFrame[] = [];
      readRequests(writer.take(), (frame) => frames.push(frame));
      if (frames.length !== requests.length) throw new Error("a frame is missing");
      for (const [i, r] of requests.entries()) {
        const frame = frames[i]!;
        const { id, code, partition, tenant, deadlineMs } = frame;
        const same =
          id === r.id &&
          code === r.code &&
          partition === r.partition &&
          tenant === r.tenant &&
          deadlineMs === r.deadline;
        if (!same || frame.requestId !== r.requestId || frame.hasBody !== (r.body !== null)) throw new Error("header");
        const { head } = frame;
        const fields = [
          head.userId,
          head.username,
          head.tenantId,
          head.keyId,
          head.roles,
          head.rateLimit,
          head.idempotencyKey,
          head.remoteAddress,
          head.query,
          head.params,
        ];
        const sent = [...r.caller, r.rateLimit, ...r.rest];
        if (JSON.stringify(fields) !== JSON.stringify(sent)) throw new Error(`head ${JSON.stringify(fields)}`);
        if (r.body !== null && !frame.bodyBytes.equals(r.body)) throw new Error("body");
      }
    }),
  );
});

t.test("replies", async () => {
  const reply = fc.record({
    id: fc.nat(),
    status: fc.integer({ min: 200, max: 599 }),
    headers: text,
    body: fc.oneof(text, fc.uint8Array({ maxLength: 200_000 })),
  });
  fc.assert(
    fc.property(fc.array(reply, { maxLength: 8 }), (replies) => {
      const writer = new ReplyWriter();
      for (const { id, status, headers, body } of replies) {
        if (typeof body === "string") writer.text(id, status, 0, headers, body);
        else writer.bytes(id, status, 1, headers, body);
      }
      const frames: ReplyFrame[] = [];
      readReplies(writer.take(), (frame) => frames.push(frame));
      if (frames.length !== replies.length) throw new Error("a frame is missing");
      for (const [i, r] of replies.entries()) {
        const frame = frames[i]!;
        if (frame.id !== r.id || frame.status !== r.status || frame.headers !== r.headers) throw new Error("header");
        if (!frame.body.equals(Buffer.from(r.body as string))) throw new Error("body");
      }
    }),
  );
});

t.test("a buffer is taken once, and a cancel is a frame", async (t) => {
  const writer = new RequestWriter();
  writer.cancel(77);
  const codes: [number, number][] = [];
  readRequests(writer.take(), ({ id, code }) => codes.push([id, code]));
  t.same(codes, [[77, CANCEL_CODE]]);
  t.ok(writer.empty);
  t.equal(writer.take().byteLength, 0);
});
