/** Which actors of a node are ready, in its memory and as other nodes see it. */
import t from "tap";
import { isReadyFor, ReadinessWatch } from "../../src/cluster/actor-readiness.js";
import { LeaseMemory, newLeaseMemory } from "../../src/cluster/lease-memory.js";
import type { Member } from "../../src/cluster/log-service.js";

function recordOf(actors: string): Member {
  return { incarnation: "i", counter: 1, isFenced: false, revision: 1, actors };
}

t.test("an actor is ready in the life of the node in which it said so, until its thread ends", (t) => {
  const memory = newLeaseMemory(3);
  const [lease, other] = [new LeaseMemory(memory), new LeaseMemory(memory)];
  t.equal(lease.actors, "000");
  lease.actorReady(0, lease.life);
  lease.actorReady(2, lease.life);
  t.equal(other.actors, "101", "in each thread");
  other.actorOfDown(5);
  t.equal(lease.actors, "100");
  lease.lost();
  t.equal(lease.actors, "000", "what it owned it owns no more");
  lease.actorReady(1, 0);
  t.equal(lease.actors, "000", "it has not noticed yet");
  lease.actorReady(1, lease.life);
  t.equal(lease.actors, "010");
  lease.renewed({ untilMs: 1, monotonicMs: 2, wallMs: 3 });
  t.equal(lease.actors, "010");
  t.end();
});

t.test("who waits hears at once that an actor has become ready or has ended", async (t) => {
  const memory = newLeaseMemory(2);
  const [lease, other] = [new LeaseMemory(memory), new LeaseMemory(memory)];
  for (const change of [() => other.actorReady(1, 0), () => other.actorDown(1)]) {
    const said = lease.actorsSaid;
    const hears = lease.saidMore(said, 2 ** 30);
    change();
    await hears;
    await lease.saidMore(said, 2 ** 30);
    t.not(lease.actorsSaid, said);
  }
});

t.test("a partition's actor is that of its number", (t) => {
  t.same(
    [0, 1, 2, 3].map((partition) => isReadyFor(recordOf("10"), partition)),
    [true, false, true, false],
  );
  t.ok(isReadyFor({ ...recordOf(""), actors: undefined as never }, 1), "an earlier release does not tell");
  t.notOk(isReadyFor(undefined, 1), "there is no such node");
  t.end();
});

t.test("an actor is down when it has been so all the time", (t) => {
  let now = 0;
  const watch = new ReadinessWatch({ monotonicMs: () => now }, 5000);
  t.notOk(watch.isDown("a", 0), "nothing is known");
  watch.saw("a", recordOf("01"));
  now = 4000;
  watch.saw("a", recordOf("00"));
  now = 5000;
  t.ok(watch.isDown("a", 0));
  t.notOk(watch.isDown("a", 1));
  watch.saw("a", recordOf("10"));
  watch.saw("a", recordOf("00"));
  now = 9500;
  t.notOk(watch.isDown("a", 2), "it was back in between");
  t.ok(watch.isDown("a", 3));
  watch.saw("a", recordOf("000"));
  t.notOk(watch.isDown("a", 1), "it was started with another number of actors");
  t.end();
});
