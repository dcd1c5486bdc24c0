/** Events of processes that send them again until they hear that they are kept. */
import t from "tap";
import { AuditTrail } from "../../src/directory/audit-trail.js";
import type { AuditEvent } from "../../src/protocol/audit.js";
import { openShard } from "./directory-fixture.js";

const DAY = 24 * 3_600_000;

function event(requestId: string): AuditEvent {
  return {
    ...{ atMs: 1, action: "users.create", outcome: "ok", status: 200, code: null, tenant: "acme", username: null },
    ...{ keyId: null, address: null, target: [], requestId, count: 1 },
  };
}

async function newTrail(): Promise<{ trail: AuditTrail; kept: () => string[]; again: () => AuditTrail }> {
  const shard = await openShard();
  const again = (): AuditTrail => new AuditTrail((readOnly) => shard.begin({ readOnly }), 1000);
  const trail = again();
  const kept = (): string[] =>
    again()
      .list({ limit: 100 })
      .entries.map(({ requestId }) => requestId)
      .reverse();
  return { trail, kept, again };
}

t.test("what comes again is kept once, also by the next owner of the directory", async (t) => {
  const { trail, kept, again } = await newTrail();
  t.equal(trail.receive({ outbox: "a", first: 1, base: 1, events: [event("1"), event("2")] }, 0), 2);
  t.equal(trail.receive({ outbox: "a", first: 1, base: 1, events: [event("1"), event("2"), event("3")] }, 0), 3);
  t.equal(again().receive({ outbox: "a", first: 1, base: 1, events: [event("1"), event("2")] }, 0), 3);
  t.equal(again().receive({ outbox: "b", first: 1, base: 1, events: [event("other")] }, 0), 1);
  t.same(kept(), ["1", "2", "3", "other"]);
});

t.test("events whose predecessors are missing wait for these, unless there are none any more", async (t) => {
  const { trail, kept } = await newTrail();
  t.equal(trail.receive({ outbox: "a", first: 3, base: 1, events: [event("3")] }, 0), null);
  t.equal(trail.receive({ outbox: "a", first: 1, base: 1, events: [event("1"), event("2")] }, 0), 2);
  t.equal(trail.receive({ outbox: "a", first: 4, base: 3, events: [event("4")] }, 0), null);
  t.equal(trail.receive({ outbox: "a", first: 4, base: 4, events: [event("4")] }, 0), 4, "the process has lost 3");
  t.same(kept(), ["1", "2", "4"]);
});

t.test(
  "processes that have sent nothing for a week are forgotten, and then their events count from their base",
  async (t) => {
    const { trail, kept } = await newTrail();
    trail.receive({ outbox: "old", first: 1, base: 1, events: [event("1")] }, 0);
    trail.receive({ outbox: "newer", first: 1, base: 1, events: [event("n1")] }, 5 * DAY);
    trail.receive({ outbox: "newest", first: 1, base: 1, events: [event("m1")] }, 8 * DAY);
    t.equal(trail.receive({ outbox: "newer", first: 1, base: 1, events: [event("n1")] }, 8 * DAY), 1, "it is known");
    t.equal(trail.receive({ outbox: "old", first: 2, base: 2, events: [event("2")] }, 8 * DAY), 2);
    t.same(kept(), ["1", "n1", "m1", "2"]);
  },
);
