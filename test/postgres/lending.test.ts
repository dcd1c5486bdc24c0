/** Whose the second descriptor of a lent socket is, and who closes it. */
import { closeSync, fstatSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import t, { type Test } from "tap";
import { errorJson } from "../../src/actor/reply.js";
import type { PendingReply } from "../../src/gateway/actor-link.js";
import type { Caller } from "../../src/gateway/admission.js";
import type { Services } from "../../src/gateway/services.js";
import { Lending } from "../../src/postgres/lending.js";
import { DbError } from "../../src/protocol/errors.js";
import type { ReplyFrame } from "../../src/protocol/frames.js";
import { FakeClock } from "../gateway/fake-clock.js";

/** The gateway's end of a connection. */
async function socketOf(t: Test): Promise<Socket> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const client = connect((server.address() as { port: number }).port, "127.0.0.1");
  const socket = await accepted;
  t.teardown(() => {
    client.destroy();
    socket.destroy();
    server.close();
  });
  return socket;
}

async function lent(t: Test) {
  const sent: { readonly pending: PendingReply; readonly body: Buffer }[] = [];
  const send = (pending: PendingReply, ...frame: unknown[]): number =>
    sent.push({ pending, body: frame.at(-1) as Buffer });
  const services = {
    clock: new FakeClock(),
    pool: {
      requestsInFlight: new Int32Array(1),
      bytesInFlight: new Float64Array(1),
      takes: () => true,
      linkOf: () => ({ send }),
    },
    config: { limits: { requestsPerPartitionMax: 1, requestBytesPerPartitionMax: 1000 } },
    requestIds: { of: () => "r" },
    wire: { lent: 0 },
    open: 0,
  };
  const failures: string[] = [];
  const lending = new Lending(services as unknown as Services, {
    returned: () => t.fail("it was not given back"),
    failed: (error) => failures.push(error.code),
    close: () => t.fail("the client has not left"),
  });
  const caller = { identity: { tenantId: "a", tenantNumber: 1 }, partition: 0, plainHead: "" } as unknown as Caller;
  t.ok(lending.begin(await socketOf(t), caller, 7, Buffer.from("read")));
  const { pending, body } = sent[0]!;
  t.same([body.readUInt32LE(0), body.subarray(8).toString(), services.wire.lent], [7, "read", 1]);
  const descriptor = body.readUInt32LE(4);
  t.ok(fstatSync(descriptor).isSocket());
  return { pending, descriptor, failures, services, lending };
}

function refusal(): ReplyFrame {
  const error = new DbError("rate_limited");
  return { flags: 0, status: error.status, headers: "", body: Buffer.from(errorJson(error, "r")) } as ReplyFrame;
}

t.test("refused before the actor had it: it is closed", async (t) => {
  const { pending, descriptor, failures, services, lending } = await lent(t);
  pending.replied(refusal());
  t.throws(() => fstatSync(descriptor), { code: "EBADF" });
  t.same([failures, services.wire.lent, services.open, lending.isLent], [["rate_limited"], 0, 0, false]);
});

t.test("failed when the actor had it: it is the actor's to close", async (t) => {
  const { pending, descriptor, failures } = await lent(t);
  pending.live!.began();
  pending.replied(refusal());
  t.same(failures, ["rate_limited"]);
  t.ok(fstatSync(descriptor).isSocket());
  closeSync(descriptor);
});

t.test("an actor that was lost may have closed it", async (t) => {
  const { pending, descriptor, failures } = await lent(t);
  pending.lost();
  t.same(failures, ["partition_unavailable"]);
  t.ok(fstatSync(descriptor).isSocket());
  closeSync(descriptor);
});
