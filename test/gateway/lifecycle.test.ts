import { once } from "node:events";
import { connect } from "node:net";
import t from "tap";
import { startGateway } from "../../src/gateway/gateway.js";
import type { PartitionRoutes } from "../../src/gateway/partition-routes.js";
import { REPLY_DISCARD } from "../../src/protocol/frames.js";
import { type Behaviour, FakeActor } from "./fake-actor.js";
import { FakeClock } from "./fake-clock.js";
import { gatewayConfig } from "./gateway-config.js";
import { memoryLogger } from "./memory-logger.js";
import { errorOf, knowsAlice, SECRET, type TestGateway, testGateway } from "./test-gateway.js";

const silent: Behaviour = { ...knowsAlice, request() {} };

async function healthOf({ url }: TestGateway): Promise<{ status: string; partitions: { status: string }[] }> {
  return (await (await fetch(`${url}/health`)).json()) as never;
}

/** Returns once the gateway has heard everything that an actor said before. */
async function settled({ url }: TestGateway): Promise<void> {
  await (await fetch(`${url}/health`)).text();
}

t.test("a client that leaves cancels its request", async (t) => {
  const gateway = await testGateway(t, { behaviour: silent });
  const cancelled = gateway.actors[0]!.nextCancel();
  await abandoned(gateway);
  const id = await cancelled;
  t.equal(id, gateway.actors[0]!.requests[0]!.id);
  gateway.actors[0]!.reply(id, 499, "", "", REPLY_DISCARD);
  await settled(gateway);
  const metrics = await gateway.call("/metrics");
  t.match(await metrics.text(), /requests_total\{method="GET",route="\/v1\/users\/me",status="499"\} 1/);
});

/** Sends a request and leaves when the actor has it. */
async function abandoned(gateway: TestGateway): Promise<void> {
  const socket = connect(gateway.gateway.port, "127.0.0.1");
  socket.write(`GET /v1/users/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.token()}\r\n\r\n`);
  await gateway.actors[0]!.nextRequest();
  socket.destroy();
  await once(socket, "close");
}

t.test("a request past its deadline gets 408 and is cancelled", async (t) => {
  const gateway = await testGateway(t, { behaviour: silent, config: { server: { requestTimeout: 10 } } });
  const [actor] = gateway.actors;
  const answer = gateway.execute();
  const frame = await actor!.nextRequest();
  t.equal(frame.deadlineMs, gateway.clock.wall() + 10_000, "the actor is told the deadline");
  gateway.clock.advance(9_500);
  t.equal((await healthOf(gateway)).status, "ok");
  const cancel = actor!.nextCancel();
  gateway.clock.advance(1_000);
  const response = await answer;
  t.equal(response.status, 408);
  t.equal((await errorOf(response)).code, "request_timeout");
  t.equal(await cancel, frame.id);
  actor!.reply(frame.id);
  t.equal((await healthOf(gateway)).status, "ok", "a late reply finds nobody and breaks nothing");
});

t.test("a body that never ends gets 408 too", async (t) => {
  const gateway = await testGateway(t, { config: { server: { requestTimeout: 10 } } });
  const head = `POST /v1/query/execute HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.token()}\r\n`;
  const answer = gateway.raw(`${head}Content-Length: 100\r\n\r\n{`, /request_timeout/);
  await gateway.actors[0]!.nextMessage("find-identity");
  gateway.clock.advance(10_500);
  t.match(await answer, /^HTTP\/1\.1 408/);
  t.equal(gateway.actors[0]!.requests.length, 0);
});

t.test("a crash answers what was in flight, and the actor comes back", async (t) => {
  const gateway = await testGateway(t, {
    behaviours: (_actor, start) => (start === 0 ? silent : knowsAlice),
  });
  const running = [gateway.execute(), gateway.execute(), gateway.call("/v1/users/me")];
  while (gateway.actors[0]!.requests.length < 3) await gateway.actors[0]!.nextRequest();
  gateway.actors[0]!.exit(1);
  for (const response of await Promise.all(running)) {
    t.equal(response.status, 503);
    t.equal(response.headers.get("retry-after"), "1");
    t.equal((await errorOf(response)).code, "partition_unavailable");
  }
  const meanwhile = await gateway.execute();
  t.equal(meanwhile.status, 503);
  t.equal(meanwhile.headers.get("retry-after"), "1");
  t.strictSame((await healthOf(gateway)).status, "degraded");
  gateway.clock.advance(100);
  await settled(gateway);
  t.equal((await gateway.execute()).status, 200);
  t.match(await healthOf(gateway), { status: "ok", partitions: [{ partition: 0, status: "ready" }] });
  t.match(gateway.log, [
    { level: 50, actor: 0 },
    { level: 30, msg: "the actor is up again" },
  ]);
});

t.test("after the directory came back, cached identities are asked for again", async (t) => {
  const gateway = await testGateway(t);
  t.equal((await gateway.call("/v1/users/me")).status, 200);
  gateway.actors[0]!.exit(1);
  t.equal((await gateway.call("/v1/users/me")).status, 503);
  gateway.clock.advance(100);
  await settled(gateway);
  t.equal((await gateway.call("/v1/users/me")).status, 200);
  t.equal(gateway.actors[1]!.messages.filter(({ kind }) => kind === "find-identity").length, 1);
});

t.test("an actor that keeps crashing gets a long pause while the others serve", async (t) => {
  const gateway = await testGateway(t, { actors: 2, partitions: 2 });
  const pauses = [100, 200, 400, 800];
  for (const pause of pauses) {
    gateway.actors.at(-1)!.exit(1);
    while ((await healthOf(gateway)).partitions[1]!.status !== "restarting");
    gateway.clock.advance(pause - 1);
    const spawned = gateway.actors.length;
    gateway.clock.advance(1);
    t.equal(gateway.actors.length, spawned + 1, `started again after ${pause} ms`);
    while ((await healthOf(gateway)).partitions[1]!.status !== "ready");
  }
  gateway.actors.at(-1)!.exit(1);
  while ((await healthOf(gateway)).partitions[1]!.status !== "failed");
  t.equal((await healthOf(gateway)).status, "failed");
  const spawned = gateway.actors.length;
  gateway.clock.advance(59_999);
  t.equal(gateway.actors.length, spawned, "not started again yet");
  t.match(gateway.log.at(-1), { level: 60, actor: 1, partitions: [1] });
  t.equal((await gateway.call("/v1/users/me")).status, 200, "partition 0 goes on");
  gateway.clock.advance(1);
  t.equal(gateway.actors.length, spawned + 1, "but then");
  while ((await healthOf(gateway)).status !== "ok");
});

t.test("crashes that are far apart do not add up", async (t) => {
  const gateway = await testGateway(t);
  for (let i = 0; i < 8; i++) {
    gateway.actors.at(-1)!.exit(1);
    while ((await healthOf(gateway)).status !== "degraded");
    gateway.clock.advance(5_000);
    while ((await healthOf(gateway)).status !== "ok");
    gateway.clock.advance(15_000);
  }
  t.equal((await gateway.call("/v1/users/me")).status, 200);
});

t.test("an actor that says a restart cannot help is given up at once", async (t) => {
  const gateway = await testGateway(t, {
    actors: 2,
    partitions: 2,
    behaviours: (actor) => (actor === 0 ? knowsAlice : failing("the shard is of a newer format", true)),
  });
  t.match(await healthOf(gateway), { status: "failed", partitions: [{ status: "ready" }, { status: "failed" }] });
  t.match(gateway.log, [{ level: 60, complaint: "the shard is of a newer format" }]);
});

function failing(message: string, fatal: boolean): Behaviour {
  return {
    start(actor) {
      actor.say({ kind: "failed", message, fatal });
      setImmediate(() => actor.exit(1));
    },
  };
}

t.test("without partition 0 the gateway does not start", async (t) => {
  const { logger } = memoryLogger();
  const spawned: FakeActor[] = [];
  const started = startGateway({
    startInference: () => undefined,
    config: gatewayConfig(),
    secret: SECRET,
    version: "1",
    logger,
    clock: new FakeClock(),
    actors: 2,
    partitions: 2,
    spawn(actor) {
      spawned.push(new FakeActor(actor, actor === 0 ? failing("no such directory", false) : {}));
      return spawned.at(-1)!;
    },
  });
  await t.rejects(started, { message: /Partition 0 cannot start: no such directory/ });
  t.match(spawned[1]!.messages, [{ kind: "close" }], "the others are closed again");
});

t.test("what other nodes say while the actors start breaks nothing", async (t) => {
  const routes: Pick<PartitionRoutes, "bind" | "ended" | "opened" | "linkOf" | "onForwarded" | "threadEnded"> = {
    onForwarded: () => undefined,
    bind(actors) {
      this.linkOf = actors.localLinkOf;
      actors.directoryLost();
      actors.identityChanged({ kind: "user", userId: "user-alice", ended: true, version: 2 });
      actors.identityChanged({ kind: "all", version: 3 });
    },
    linkOf: () => t.fail("it is bound first") as never,
    opened: () => undefined,
    ended: () => undefined,
    threadEnded: () => undefined,
  };
  const gateway = await startGateway({
    ...{ startInference: () => undefined, config: gatewayConfig(), secret: SECRET, version: "1" },
    ...{ logger: memoryLogger().logger, clock: new FakeClock(), actors: 1, partitions: 1 },
    routes: routes as PartitionRoutes,
    spawn: (actor) => new FakeActor(actor, knowsAlice),
  });
  t.ok(gateway.port > 0);
  await gateway.close();
});

t.test("an address that is taken is said", async (t) => {
  const first = await testGateway(t);
  const actor = new FakeActor(0, {});
  const second = startGateway({
    startInference: () => undefined,
    config: gatewayConfig({ server: { host: "127.0.0.1", port: first.gateway.port } }),
    secret: SECRET,
    version: "1",
    logger: memoryLogger().logger,
    actors: 1,
    partitions: 1,
    spawn: () => actor,
  });
  await t.rejects(second, { message: /Cannot listen on 127\.0\.0\.1/ });
  t.match(actor.messages, [{ kind: "close" }]);
});

t.test("a partition takes so many requests and bytes, and no more", async (t) => {
  const gateway = await testGateway(t, {
    behaviour: silent,
    config: { limits: { requestsPerPartitionMax: 2, requestBytesPerPartitionMax: 1000 } },
  });
  const [actor] = gateway.actors;
  const big = gateway.execute("x".repeat(900));
  await actor!.nextRequest();
  const tooManyBytes = await gateway.execute("x".repeat(200));
  t.equal(tooManyBytes.status, 503);
  t.equal(tooManyBytes.headers.get("retry-after"), "1");
  t.equal((await errorOf(tooManyBytes)).code, "overloaded");
  const small = gateway.execute("x");
  await actor!.nextRequest();
  t.equal((await gateway.execute("x")).status, 503, "two are running");
  for (const { id } of actor!.requests) actor!.reply(id);
  t.equal((await big).status, 200);
  t.equal((await small).status, 200);
  const again = gateway.execute("x".repeat(1000));
  actor!.reply((await actor!.nextRequest()).id);
  t.equal((await again).status, 200, "places and bytes are given back");
});

t.test("closing finishes what runs and refuses what comes", async (t) => {
  const gateway = await testGateway(t, { behaviour: silent });
  const [actor] = gateway.actors;
  const idle = connect(gateway.gateway.port, "127.0.0.1");
  idle.write("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  await once(idle, "data");
  const running = gateway.execute();
  const frame = await actor!.nextRequest();
  const closed = gateway.gateway.close();
  idle.write("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  const [refused] = await once(idle, "data");
  t.match(String(refused), /^HTTP\/1\.1 503[\s\S]*Connection: close[\s\S]*shutting_down/i);
  await t.rejects(fetch(`${gateway.url}/health`), "no new connections");
  actor!.reply(frame.id, 200, "finished");
  const response = await running;
  t.equal(await response.text(), "finished");
  t.equal(response.headers.get("connection"), "close");
  await closed;
  t.match(actor!.messages.at(-1), { kind: "close" });
  t.notOk(actor!.terminated);
});

t.test("closing does not wait for ever", async (t) => {
  const gateway = await testGateway(t, {
    behaviour: { ...silent, close() {} },
    config: { server: { shutdownTimeout: 5 } },
  });
  const [actor] = gateway.actors;
  const running = gateway.execute();
  await actor!.nextRequest();
  const closed = gateway.gateway.close();
  const asked = actor!.nextMessage("close");
  gateway.clock.advance(5_000);
  await asked;
  gateway.clock.advance(2_000);
  await closed;
  const response = await running;
  t.equal(response.status, 503);
  t.match(await response.json(), { error: { code: "shutting_down", message: /may have been written/ } });
  t.ok(actor!.terminated, "only as the last resort");
});

t.test("an actor in which nothing runs any more has time to save what it has", async (t) => {
  const gateway = await testGateway(t, { behaviour: { ...silent, close() {} } });
  const [actor] = gateway.actors;
  const closed = gateway.gateway.close();
  await actor!.nextMessage("close");
  actor!.say({ kind: "at-rest" });
  // Its answer says that what came before has been heard, too.
  actor!.say({ kind: "log-level", level: "error" });
  await actor!.nextMessage("log-level");
  gateway.clock.advance(20_000);
  t.notOk(actor!.terminated);
  gateway.clock.advance(10_000);
  await closed;
  t.ok(actor!.terminated, "but not for ever");
});

t.test("too many connections are closed", async (t) => {
  const gateway = await testGateway(t, { config: { limits: { connectionsMax: 2 } } });
  const open = await Promise.all([0, 1].map(() => opened(gateway.gateway.port)));
  const third = connect(gateway.gateway.port, "127.0.0.1").on("error", () => {});
  await once(third, "close");
  open[0]!.destroy();
  await once(open[0]!, "close");
  let answer = "";
  while (!answer.startsWith("HTTP/1.1 200"))
    answer = await gateway.raw("GET /health HTTP/1.1\r\nHost: x\r\n\r\n", /parti/);
  t.match(answer, /^HTTP\/1\.1 200/);
  open[1]!.destroy();
});

async function opened(port: number) {
  const socket = connect(port, "127.0.0.1");
  socket.write("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  await once(socket, "data");
  return socket;
}
