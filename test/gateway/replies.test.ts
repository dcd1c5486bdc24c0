import { once } from "node:events";
import { connect } from "node:net";
import t from "tap";
import { testGateway } from "./test-gateway.js";

t.test("status, headers and body are the actor's", async (t) => {
  const { execute } = await testGateway(t, {
    behaviour: {
      request: (frame, actor) =>
        actor.reply(frame.id, 409, '{"error":{}}', "Idempotency-Replayed: true\nX-Other: a: b"),
    },
  });
  const response = await execute();
  t.equal(response.status, 409);
  t.equal(response.statusText, "Conflict");
  t.equal(response.headers.get("idempotency-replayed"), "true");
  t.equal(response.headers.get("x-other"), "a: b");
  t.equal(response.headers.get("content-type"), "application/json");
  t.equal(await response.text(), '{"error":{}}');
});

t.test("a 204 has neither body nor length", async (t) => {
  const { raw, token } = await testGateway(t, { behaviour: { request: (f, a) => a.reply(f.id, 204, "") } });
  const request = `DELETE /v1/api-keys/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token()}\r\n\r\n`;
  const answer = await raw(`${request}`, /\r\n\r\n/);
  t.match(answer, /^HTTP\/1\.1 204 No Content\r\n/);
  t.notMatch(answer, /content-length|content-type|transfer-encoding/i);
  t.ok(answer.endsWith("\r\n\r\n"));
});

t.test("a large reply arrives whole, also when its reader is slow", async (t) => {
  const body = "0123456789abcdef".repeat(1 << 20);
  const gateway = await testGateway(t, {
    behaviour: {
      // Two replies in one buffer: the small one must not be held up by the large one.
      request: (frame, actor) => actor.reply(frame.id, 200, frame.bodyText === "big" ? body : "small"),
    },
  });
  t.equal((await (await gateway.execute("big")).text()) === body, true, "a fast reader");

  const socket = connect(gateway.gateway.port, "127.0.0.1");
  socket.pause();
  const head = `POST /v1/query/execute HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.token()}\r\n`;
  socket.write(`${head}Content-Length: 3\r\n\r\nbig`);
  const [answer] = await Promise.all([gateway.execute("other"), gateway.actors[0]!.nextRequest()]);
  t.equal(await answer.text(), "small", "others are served meanwhile");
  const pieces: Buffer[] = [];
  let received = 0;
  socket.on("data", (data) => {
    pieces.push(data);
    received += data.length;
    socket.pause();
    setImmediate(() => socket.resume());
    if (received > body.length && pieces.length > 1) socket.emit("maybe-done");
  });
  socket.resume();
  let text = "";
  while (!text.endsWith(body.slice(-64)) || text.length < body.length) {
    await once(socket, "maybe-done");
    text = Buffer.concat(pieces).toString("latin1");
  }
  t.equal(text.slice(text.indexOf("\r\n\r\n") + 4) === body, true, "a slow reader");
  socket.write("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  pieces.length = 0;
  while (!Buffer.concat(pieces).includes("partitions")) await once(socket, "data");
  t.pass("the connection goes on");
  socket.destroy();
});

t.test("a reader that leaves in the middle of a large reply breaks nothing", async (t) => {
  const body = Buffer.alloc(32 << 20, "x");
  const gateway = await testGateway(t, { behaviour: { request: (f, a) => a.reply(f.id, 200, body) } });
  const socket = connect(gateway.gateway.port, "127.0.0.1");
  const head = `GET /v1/users/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.token()}\r\n\r\n`;
  socket.write(head);
  await once(socket, "data");
  socket.destroy();
  await once(socket, "close");
  const health = await fetch(`${gateway.url}/health`);
  t.equal(health.status, 200);
  let metrics = "";
  while (!/tessera_http_requests_open 1\n/.test(metrics))
    metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  t.match(metrics, /route="\/v1\/users\/me",status="200"\} 1\n/, "counted once, and nothing is left open");
});

t.test("many requests at once each get their own reply", async (t) => {
  const { execute } = await testGateway(t, {
    // Not in the order of their arrival.
    behaviour: {
      request(frame, actor) {
        const { id, bodyText } = frame;
        if (id % 3 === 0) actor.reply(id, 200, bodyText);
        else setImmediate(() => actor.reply(id, 200, bodyText));
      },
    },
  });
  const texts = Array.from({ length: 200 }, (_, i) => `request ${i}`);
  const answers = await Promise.all(texts.map(async (text) => (await execute(text)).text()));
  t.strictSame(answers, texts);
});

t.test("request lines are logged as configured", async (t) => {
  const behaviour = {
    request: (frame: { id: number; bodyText: string }, actor: { reply(id: number, status: number): void }) =>
      actor.reply(frame.id, Number(frame.bodyText)),
  };
  for (const [requestLog, statuses] of [
    ["off", []],
    ["errors", [500, 503]],
    ["all", [200, 404, 500, 503]],
  ] as const) {
    const { execute, log } = await testGateway(t, { behaviour, config: { server: { requestLog } } });
    for (const status of [200, 404, 500, 503]) await execute(String(status));
    t.strictSame(
      log.map(({ status }) => status),
      statuses,
      requestLog,
    );
  }
});

t.test("a client that closes is told that the connection ends", async (t) => {
  const { raw } = await testGateway(t);
  const reply = await raw("GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", /\}$/);
  t.equal(reply.match(/^connection: close\r$/gim)?.length, 1);
  const kept = await raw("GET /health HTTP/1.1\r\nHost: x\r\n\r\n", /\}$/);
  t.notMatch(kept, /connection: close/i);
});
