import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { pack, unpack } from "msgpackr";
import t from "tap";
import {
  REPLY_MOVED,
  REPLY_MSGPACK,
  REQUEST_BODY_MSGPACK,
  REQUEST_HAS_BODY,
  REQUEST_IDEMPOTENT,
  REQUEST_WANTS_MSGPACK,
} from "../../src/protocol/frames.js";
import type { Behaviour } from "./fake-actor.js";
import { type ErrorReply, errorOf, testGateway } from "./test-gateway.js";

const echo: Behaviour = { request: (frame, actor) => actor.reply(frame.id, 200, frame.bodyText) };

t.test("a body arrives unchanged, however it was cut", async (t) => {
  const { execute, call, raw, token, actors } = await testGateway(t, { behaviour: echo });
  const text = `{"sql":"${"größe ☃ ".repeat(20_000)}"}`;
  t.equal(await (await execute(text)).text(), text, "in many pieces, before the identity is known");
  t.equal(await (await execute(text)).text(), text, "in many pieces");
  t.equal(await (await execute("{}")).text(), "{}");
  const stream = new ReadableStream({
    start(controller) {
      for (const part of ['{"a"', ":", "1}"]) controller.enqueue(new TextEncoder().encode(part));
      controller.close();
    },
  });
  const chunked = await call("/v1/query/execute", { method: "POST", body: stream, duplex: "half" });
  t.equal(await chunked.text(), '{"a":1}');
  const head = `POST /v1/query/execute HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token()}\r\n`;
  await raw(`${head}Transfer-Encoding: chunked\r\n\r\n2\r\n{"\r\n3\r\na":\r\n2\r\n1}\r\n0\r\n\r\n`, /"a":1\}/);
  t.equal(actors[0]!.requests.at(-1)!.bodyText, '{"a":1}');
  t.ok(actors[0]!.requests.at(-1)!.flags & REQUEST_HAS_BODY);
});

t.test("a missing body is the actor's to judge", async (t) => {
  const { call, actors } = await testGateway(t);
  t.equal((await call("/v1/query/execute", { method: "POST" })).status, 200);
  t.equal(actors[0]!.requests[0]!.hasBody, false);
  t.equal((await call("/v1/transactions", { method: "POST", headers: { "content-type": "text/plain" } })).status, 200);
});

t.test("bodies above the bound are refused, declared or not", async (t) => {
  const { execute, call, actors, raw, token } = await testGateway(t, {
    behaviour: echo,
    config: { server: { bodyBytesMax: 2048 } },
  });
  t.equal((await execute("x".repeat(2048))).status, 200, "just fits");
  const refused = await execute("x".repeat(2049));
  t.equal(refused.status, 413);
  t.match(await errorOf(refused), { code: "payload_too_large", message: /2048 bytes/ });
  const stop = new AbortController();
  const stream = new ReadableStream({
    async pull(controller) {
      await sleep(1);
      if (stop.signal.aborted) controller.close();
      else controller.enqueue(new Uint8Array(1500));
    },
  });
  const chunked = call("/v1/query/execute", { method: "POST", body: stream, duplex: "half", signal: stop.signal });
  // The client may see the connection close while it still sends, instead of the answer.
  t.equal(await chunked.then(({ status }) => status).catch(() => 413), 413);
  // Otherwise it sends for as long as somebody reads, and leaves nothing else a turn.
  stop.abort();
  const head = `POST /v1/query/execute HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token()}\r\n`;
  const endless = await raw(
    `${head}Transfer-Encoding: chunked\r\n\r\n1000\r\n${"x".repeat(4096)}`,
    /payload_too_large/,
  );
  t.match(endless, /^HTTP\/1\.1 413[\s\S]*Connection: close/i);
  const huge = await raw(`${head}Content-Length: 999999999999\r\n\r\n`, /payload_too_large/);
  t.match(huge, /^HTTP\/1\.1 413[\s\S]*Connection: close/i);
  t.equal(actors[0]!.requests.length, 1);
});

t.test("the connection stays usable after a body that was refused", async (t) => {
  const { raw, token, call } = await testGateway(t, { behaviour: echo, config: { server: { bodyBytesMax: 2048 } } });
  // Once the caller is known, refusals come at once and the next request may be on its way already.
  await call("/v1/users/me");
  const head = (path: string): string => `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token()}\r\n`;
  const tooLong = `${head("/v1/query/execute")}Content-Length: 3000\r\n\r\n${"x".repeat(3000)}`;
  const both = await raw(`${tooLong}GET /health HTTP/1.1\r\nHost: x\r\n\r\n`, /partitions/);
  t.match(both, /^HTTP\/1\.1 413[\s\S]*HTTP\/1\.1 200/);
});

t.test("a client that goes on sending reads the refusal", async (t) => {
  const { url, token, call } = await testGateway(t, { config: { server: { bodyBytesMax: 2048 } } });
  await call("/v1/users/me");
  const { hostname, port } = new URL(url);
  const piece = "x".repeat(4096);
  const chunk = `1000\r\n${piece}\r\n`;
  const auth = `Authorization: Bearer ${token()}\r\n`;
  for (const [headers, part, status] of [
    [`${auth}Transfer-Encoding: chunked`, chunk, 413],
    [`${auth}Content-Length: ${20 * piece.length}`, piece, 413],
    [`Content-Length: ${20 * piece.length}`, piece, 401],
  ] as const) {
    const socket = connect(Number(port), hostname);
    socket.write(`POST /v1/query/execute HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`);
    // It does not read before it has sent everything.
    for (let i = 0; i < 20; i++) {
      await new Promise<void>((resolve, reject) => socket.write(part, (error) => (error ? reject(error) : resolve())));
      await sleep(2);
    }
    if (part === chunk) socket.write("0\r\n\r\n");
    let reply = "";
    for await (const data of socket) {
      reply += data;
      if (reply.endsWith("0\r\n\r\n")) break;
    }
    t.match(reply, new RegExp(`^HTTP/1.1 ${status} [^]*Connection: close[^]*"error"`));
  }
});

t.test("only JSON and MessagePack bodies are taken", async (t) => {
  const { execute, actors } = await testGateway(t);
  const frame = () => actors[0]!.requests.at(-1)!;
  for (const type of ["application/json", "application/json; charset=UTF-8", "APPLICATION/JSON", "text/json"]) {
    t.equal((await execute("{}", { "content-type": type })).status, 200, type);
    t.notOk(frame().flags & REQUEST_BODY_MSGPACK);
  }
  for (const type of ["application/msgpack", "application/x-msgpack"]) {
    t.equal((await execute("\x80", { "content-type": type })).status, 200, type);
    t.ok(frame().flags & REQUEST_BODY_MSGPACK);
  }
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", "json"]) {
    const response = await execute("{}", { "content-type": type });
    t.equal(response.status, 415, type);
    t.equal((await errorOf(response)).code, "unsupported_media_type");
  }
});

t.test("a body without a type is taken for JSON", async (t) => {
  const { raw, token, actors } = await testGateway(t);
  await raw(
    `POST /v1/query/execute HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token()}\r\nContent-Length: 2\r\n\r\n{}`,
    /meta/,
  );
  t.equal(actors[0]!.requests[0]!.bodyText, "{}");
});

t.test("Accept chooses the format of the answer", async (t) => {
  const { execute, url, actors } = await testGateway(t, {
    behaviour: {
      request(frame, actor) {
        if (frame.flags & REQUEST_WANTS_MSGPACK) actor.reply(frame.id, 200, pack({ data: 1 }), "", REPLY_MSGPACK);
        else actor.reply(frame.id, 200, '{"data":1}');
      },
    },
  });
  const json = ["*/*", "application/json", "application/*", "text/html,*/*;q=0.8", "application/msgpack;q=0.5, */*"];
  for (const accept of json) {
    const response = await execute("{}", { accept });
    t.equal(response.headers.get("content-type"), "application/json", accept);
    t.strictSame(await response.json(), { data: 1 });
  }
  for (const accept of ["application/msgpack", "application/x-msgpack, application/json;q=0.9"]) {
    const response = await execute("{}", { accept });
    t.equal(response.headers.get("content-type"), "application/msgpack", accept);
    t.strictSame(unpack(new Uint8Array(await response.arrayBuffer())), { data: 1 });
  }
  const before = actors[0]!.requests.length;
  for (const accept of ["text/html", "application/xml, image/*", "application/json;q=0, application/msgpack;q=0"]) {
    const response = await execute("{}", { accept });
    t.equal(response.status, 406, accept);
    t.equal((await errorOf(response)).code, "not_acceptable");
  }
  t.equal(actors[0]!.requests.length, before);
  const error = await fetch(`${url}/nothing`, { headers: { accept: "application/msgpack" } });
  t.equal(error.headers.get("content-type"), "application/msgpack");
  const body = unpack(new Uint8Array(await error.arrayBuffer())) as ErrorReply;
  t.equal(body.error.code, "endpoint_not_found");
});

t.test("an Idempotency-Key is checked and handed on for POST and PUT", async (t) => {
  const { execute, call, actors } = await testGateway(t);
  const key = "a key, 1 to 255 characters";
  await execute("{}", { "idempotency-key": key });
  const frame = actors[0]!.requests[0]!;
  t.equal(frame.head.idempotencyKey, key);
  t.ok(frame.flags & REQUEST_IDEMPOTENT);
  for (const bad of ["x".repeat(256), "tab\there", "caf\xe9 au lait"]) {
    const response = await execute("{}", { "idempotency-key": bad });
    t.equal(response.status, 400, bad);
    t.match((await errorOf(response)).message, /Idempotency-Key/);
  }
  await call("/v1/users/me", { headers: { "idempotency-key": key } });
  t.equal(actors[0]!.requests[1]!.head.idempotencyKey, "");
});

t.test("bodies that are being received are bounded together", async (t) => {
  const { gateway, token, execute } = await testGateway(t, {
    config: { limits: { requestBytesPerPartitionMax: 100_000 } },
  });
  const head = `POST /v1/query/execute HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token()}\r\nContent-Length: 90000\r\n\r\n`;
  const open = connect(gateway.port, "127.0.0.1");
  t.teardown(() => open.destroy());
  open.write(head + "x".repeat(80_000));
  // The second one is answered once the first one's pieces have come in.
  let status = 0;
  while (status !== 503) status = (await execute("x".repeat(70_000)).catch(() => ({ status: 503 }))).status;
  open.destroy();
  while (status !== 200) status = (await execute("x".repeat(70_000)).catch(() => ({ status: 503 }))).status;
  t.equal(status, 200, "a body that was given up makes room again");
});

t.test("a request whose body streams does not follow a partition that moved", async (t) => {
  const { call, actors } = await testGateway(t, {
    behaviour: {
      request: (frame, actor) => {
        // A second time would be answered.
        if (actor.requests.length === 1) actor.reply(frame.id, 0, "", "0", REPLY_MOVED);
        else actor.reply(frame.id);
      },
    },
  });
  const headers = { "content-type": "text/csv" };
  const refused = await call("/v1/data/import/csv?table=a", { method: "POST", body: "a\n1\n", headers });
  t.equal(refused.status, 503);
  t.equal(refused.headers.get("retry-after"), "1");
  t.match(await errorOf(refused), { code: "partition_unavailable", message: /retry/ });
  t.equal(actors[0]!.requests.length, 1);
  const again = await call("/v1/data/import/csv?table=a", { method: "POST", body: "a\n1\n", headers });
  t.equal(again.status, 200, "its place was given back");
});

t.test("a client whose body is not taken for a while is waited for", async (t) => {
  /** Longer than uWebSockets.js waits for the next bytes of a body. */
  const busyMs = 13_000;
  const { call } = await testGateway(t, {
    behaviour: { request: (frame, actor) => void setTimeout(() => actor.reply(frame.id), busyMs) },
  });
  const body = "a\n".repeat(2 * 1024 * 1024);
  const headers = { "content-type": "text/csv" };
  t.equal((await call("/v1/data/import/csv?table=a", { method: "POST", body, headers })).status, 200);
});
