import t from "tap";
import { deriveKey } from "../../src/directory/derive-key.js";
import { deriveSmallKey } from "../../src/directory/derive-small-key.js";

const salt = new Uint8Array(16).fill(7);

t.test("small keys are those that a task thread gives", async (t) => {
  for (const password of ["a password", "pässwörd", "é", "~!"]) {
    for (const cost of [{ logN: 10, r: 8, p: 1 }, { logN: 11, r: 8, p: 1 }, { iterations: 15_000 }]) {
      const job = { password, salt, cost, length: 32 };
      const small = deriveSmallKey(job);
      if (small === null)
        t.match(job, { cost: { iterations: 15_000 }, password: /[^ -~]/ }, "only what needs SASLprep");
      else t.same(new Uint8Array(await small), new Uint8Array(deriveKey(job)), `${password} ${JSON.stringify(cost)}`);
    }
  }
});

t.test("what takes longer is a task's", async (t) => {
  for (const cost of [
    { logN: 12, r: 8, p: 1 },
    { logN: 10, r: 16, p: 1 },
    { logN: 10, r: 8, p: 2 },
    { iterations: 15_001 },
  ]) {
    t.equal(deriveSmallKey({ password: "a password", salt, cost, length: 32 }), null, JSON.stringify(cost));
  }
  t.equal(deriveSmallKey({ password: "", salt, cost: { iterations: 1 }, length: 32 }), null);
});
