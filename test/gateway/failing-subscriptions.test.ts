/**
 * Subscriptions when the actor of their partition ends: each is told with what it has seen, those of other partitions
 * go on.
 */
import t from "tap";
import { MESSAGES } from "../../src/protocol/endpoints.js";
import { LIVE, REPLY_LIVE } from "../../src/protocol/frames.js";
import type { Identity } from "../../src/protocol/identity.js";
import { SocketClient } from "../e2e/socket-client.js";
import type { Behaviour, FakeActor } from "./fake-actor.js";
import { ALICE, testGateway } from "./test-gateway.js";

const CHANNEL = 9;
const subscribe = MESSAGES.find(({ name }) => name === "socket.subscribe")!.code;
/** Alice is in partition 0, Bob in partition 1. */
const BOB: Identity = {
  ...ALICE,
  userId: "user-bob",
  username: "bob",
  tenantId: "other",
  companyId: "other",
  tenantNumber: 8,
  partition: 1,
};

const behaviour: Behaviour = {
  identity: (_by, value) => [ALICE, BOB].find(({ userId }) => userId === value) ?? null,
  request(frame, actor) {
    if (frame.code !== subscribe) {
      actor.reply(frame.id);
      return;
    }
    actor.reply(frame.id, LIVE.began, "", "", REPLY_LIVE);
    actor.reply(frame.id, LIVE.joined, "", String(CHANNEL), REPLY_LIVE);
  },
};
const publishes = (actor: FakeActor, sequence: number): void =>
  actor.reply(CHANNEL, LIVE.published, `"type":"change","sequence":${sequence}}`, String(sequence), REPLY_LIVE);

t.test("the actor of a partition ends", async (t) => {
  const { url, token, actors } = await testGateway(t, { behaviours: () => behaviour, actors: 2, partitions: 2 });
  const connect = async (identity: Identity): Promise<SocketClient> => {
    const claims = { sub: identity.userId, username: identity.username, tenant_id: identity.tenantId };
    const client = await SocketClient.open(url, "/v1/ws", {
      authorization: `Bearer ${token({ ...claims, company_id: identity.tenantId })}`,
    });
    t.teardown(() => client.destroy());
    return client;
  };
  const alice = await connect(ALICE);
  const bob = await connect(BOB);
  for (const [client, actor] of [
    [alice, actors[0]!],
    [bob, actors[1]!],
  ] as const) {
    for (const id of [1, 2]) {
      const arrived = actor.nextRequest();
      client.send({ type: "subscribe", id, table: "entry" });
      await arrived;
    }
    publishes(actor, 5);
    t.match(
      [await client.next(), await client.next()],
      [
        { id: 1, sequence: 5 },
        { id: 2, sequence: 5 },
      ],
    );
  }

  actors[1]!.exit(1);
  for (const id of [1, 2]) {
    const ended = { type: "error", id, code: "subscription_interrupted", details: { sequence: 5 } };
    t.match(await bob.next(), ended, "it says from where the client goes on");
  }
  bob.send({ type: "subscribe", id: 3, table: "entry" });
  t.match(await bob.next(), { type: "error", id: 3, code: "partition_unavailable" }, "the connection is there still");
  publishes(actors[0]!, 6);
  t.match(
    [await alice.next(), await alice.next()],
    [
      { id: 1, sequence: 6 },
      { id: 2, sequence: 6 },
    ],
    "others go on",
  );
  t.equal(alice.messages.length, 0);
});
