/** Requests in flight whose actor's thread ends: each is told once, and not at all when nobody waits any more. */
import t from "tap";
import { ActorLink, type ActorPort, type Loss, type PendingReply } from "../../src/gateway/actor-link.js";

const LOSS: Loss = { code: "partition_unavailable", message: "It ended.", retryAfterSeconds: 1 };

function threadOf(): ActorPort {
  return { postMessage: () => undefined, on: () => undefined, terminate: async () => undefined };
}

/** Two requests that wait for the next thread to be told that they are lost. */
function twoThatAreLost() {
  const told: string[] = [];
  const link = new ActorLink(0, () => undefined);
  link.attach(threadOf());
  link.state = "ready";
  const [left, waits] = ["who has left", "who waits"].map((name) => {
    const pending: PendingReply = {
      ...{ keptIn: null, suspicions: 0, requestId: name, tenantId: null, ofDirectory: false, repeatable: "never" },
      ...{ replied: () => undefined, progressed: () => undefined },
      lost: (loss) => told.push(`${name}: ${loss?.message}`),
    };
    return link.send(pending, 1, 0, 0, 1, Date.now() + 5000, name, "", null);
  });
  link.hold();
  link.change(
    () => LOSS,
    () => false,
  );
  return { told, link, left: left!, waits: waits! };
}

t.test("a client that leaves before the next thread is ready is not answered", async (t) => {
  const { told, link, left } = twoThatAreLost();
  link.cancel(left);
  link.attach(threadOf());
  link.resume();
  t.same(told, ["who waits: It ended."]);
  link.resume();
  t.equal(told.length, 1, "and who waits is told once");
});

t.test("nor when no further thread comes", async (t) => {
  const { told, link, left } = twoThatAreLost();
  link.cancel(left);
  link.detach("failed");
  t.same(told, ["who waits: It ended."]);
});
