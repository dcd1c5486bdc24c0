/** Steps of branches in an archive that somebody has made by hand: what is none is refused before it is used. */
import t from "tap";
import { type BranchStep, decodeSteps, encodeStep } from "../../../src/backup/backup-branches.js";

const record = { name: "b", createdAt: "then", createdBy: "ann", expiresAtMs: null, quotaBytes: null };
const read = (step: unknown, cut = 0): unknown[] => {
  const bytes = encodeStep(step as BranchStep, [{ key: Buffer.from("key"), value: Buffer.from("value") }]);
  return [...decodeSteps(Buffer.from(bytes.subarray(0, bytes.length - cut)))].map((one) => one.step);
};

t.test("steps are read as they were written", async (t) => {
  const steps = [
    { what: "fork", branch: 5, origin: 0, record, micros: null },
    { what: "change", branch: 5, record: { ...record, expiresAtMs: 1.5, quotaBytes: 7 }, micros: 3 },
    { what: "change", branch: 5, record: { ...record, access: { users: ["ann"], ownPolicies: true } }, micros: 3 },
    { what: "merge", branch: 5, merged: { tables: [7], definitions: false }, micros: 3 },
    { what: "write", branch: 0, micros: 3 },
    { what: "end", branch: 5, micros: 4 },
  ];
  for (const step of steps) t.strictSame(read(step), [step]);
});

t.test("what is no step is refused", async (t) => {
  const bad = [
    ...[null, 7, "fork", [], {}, { what: "merge", branch: 5, micros: null }],
    ...[
      { what: "end", branch: 0, micros: null },
      { what: "change", branch: 0, record, micros: null },
    ],
    ...[
      { what: "write", branch: -1, micros: null },
      { what: "write", branch: "5", micros: null },
    ],
    ...[
      { what: "fork", branch: 5, record, micros: null },
      { what: "fork", branch: 5, origin: 0, micros: null },
    ],
    { what: "fork", branch: 5, origin: 0, record: { ...record, name: "../b" }, micros: null },
    { what: "change", branch: 5, record: null, micros: null },
    { what: "change", branch: 5, record: { ...record, access: { users: [7] } }, micros: null },
    { what: "merge", branch: 5, merged: { tables: ["a"], definitions: false }, micros: null },
    { what: "merge", branch: 0, merged: { tables: null, definitions: false }, micros: null },
  ];
  for (const step of bad) t.throws(() => read(step), RangeError, JSON.stringify(step));
  t.throws(() => read({ what: "write", branch: 0, micros: null }, 2), /has no end/);
});
