/** The gate: nothing leaves before its commit is durable, nothing is lost, everything leaves once. */
import fc from "fast-check";
import t from "tap";
import { OutputGate } from "../../src/actor/output-gate.js";
import { DbError } from "../../src/protocol/errors.js";

t.test("replies wait for their commit", async (t) => {
  const gate = new OutputGate();
  const sent: string[] = [];
  const pass = (sequence: number, name: string): void =>
    gate.pass(
      sequence,
      () => sent.push(name),
      () => sent.push(`${name} failed`),
    );
  pass(0, "read nothing");
  pass(5, "write 5");
  pass(4, "write 4");
  t.same(sent, ["read nothing"]);
  gate.open(4);
  t.same(sent, ["read nothing", "write 4"]);
  pass(3, "read 3");
  gate.refuse(5, new DbError("disk_full"));
  t.same(sent, ["read nothing", "write 4", "read 3", "write 5 failed"]);
  t.equal(gate.waiting, 0);
});

t.test("any order of commits, syncs and refusals", async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("pass" as const), sequence: fc.nat(20) }),
    fc.record({ kind: fc.constant("open" as const), by: fc.nat(5) }),
    fc.record({ kind: fc.constant("refuse" as const) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const gate = new OutputGate();
      const outcomes = new Map<number, number>();
      let durable = 0;
      let passed = 0;
      for (const s of steps) {
        if (s.kind === "pass") {
          const name = passed++;
          outcomes.set(name, 0);
          const settle = (): void => void outcomes.set(name, outcomes.get(name)! + 1);
          gate.pass(
            s.sequence,
            () => {
              if (s.sequence > durable) throw new Error("a reply left before its commit was durable");
              settle();
            },
            settle,
          );
        } else if (s.kind === "open") {
          durable += s.by;
          gate.open(durable);
        } else gate.refuse(durable + 1, new DbError("disk_full"));
      }
      durable = 100;
      gate.open(durable);
      if ([...outcomes.values()].some((count) => count !== 1)) throw new Error("a reply left twice or never");
    }),
  );
});
