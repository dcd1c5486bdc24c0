/** Vectors change while a copy of their graph is linked elsewhere: what comes back holds exactly those of now. */
import t from "tap";
import { linkGraph } from "../../src/vector/link-graph.js";
import { VectorBody } from "../../src/vector/vector-body.js";
import { randomFrom } from "../fuzz/random.js";
import { clusteredVectors } from "./vectors.js";

const DIMENSIONS = 16;

for (const storage of ["f32", "int8", "binary"] as const) {
  t.test(`linked elsewhere, ${storage}`, async (t) => {
    const vectors = clusteredVectors(3000, DIMENSIONS, 7);
    const random = randomFrom(11);
    let bySlot = new Map<number, number>();
    const definition = { metric: "l2", m: 8, efConstruction: 32, storage } as const;
    const vectorsAt = (slots: readonly number[]) => slots.map((slot) => vectors[bySlot.get(slot)!]);
    const body = VectorBody.create(definition, DIMENSIONS, vectorsAt, 100);
    let next = 0;
    const add = () => {
      const slot = body.add(vectors[next]!);
      if (bySlot.has(slot)) throw new Error("a slot was given twice");
      bySlot.set(slot, next++);
    };
    const change = () => {
      const slots = [...bySlot.keys()];
      const slot = slots[Math.floor(random() * slots.length)]!;
      if (random() < 0.5) {
        body.remove(slot);
        bySlot.delete(slot);
      }
      if (random() < 0.7) add();
    };
    for (let i = 0; i < 1500; i++) add();
    for (let i = 0; i < 100; i++) body.work();
    for (let i = 0; i < 100; i++) change();
    t.ok(body.isWanted);
    const parts = [...body.save()].map((part) => part.slice());
    body.begin();
    t.notOk(body.isWanted || body.hasWork, "what is away is not done here, too");
    for (let i = 0; i < 300; i++) change();
    const steps = body.takeBack(linkGraph(parts));
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) for (let i = 0; i < 10; i++) change();
    const moved = step.value;
    for (const slot of moved.keys()) if (!bySlot.has(slot)) t.fail(`slot ${slot} is free`);
    t.ok(
      [...moved].some(([from, to]) => from !== to),
      "some have other slots now",
    );
    bySlot = new Map([...bySlot].map(([slot, vector]) => [moved.get(slot) ?? slot, vector]));
    t.equal(body.count, bySlot.size);
    t.ok(body.waitingCount < bySlot.size / 2, "most are linked");
    for (let i = 0; i < 50; i++) change();
    const all = body.search(vectors[0]!, bySlot.size, 16_384, null);
    t.same([...all.slots].sort(), [...bySlot.keys()].sort(), "a search finds those of now and no others");
    let found = 0;
    for (const [slot, vector] of bySlot) if (body.search(vectors[vector]!, 1, 64, null).slots[0] === slot) found++;
    t.ok(found > 0.9 * bySlot.size, `${found} of ${bySlot.size} are found by themselves`);
    while (body.hasWork) body.work();
    body.begin();
    t.throws(() => body.takeBack(new Uint8Array(100)).next());
    body.giveUp();
    add();
    t.ok(body.hasWork);
  });
}
