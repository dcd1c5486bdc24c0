/** Keys that transactions hold against each other. */
import t from "tap";
import { LOCK_STRENGTHS, type LockStrength } from "../../src/protocol/lock-strength.js";
import { KeyConflict, KeyHolder, KeyLocks } from "../../src/storage/key-locks.js";

const unchanged = () => false;

function conflictOf(take: () => void): KeyConflict | null {
  try {
    take();
    return null;
  } catch (error) {
    if (error instanceof KeyConflict) return error;
    throw error;
  }
}

t.test("a key is held until its holder ends, and who waits is called once", async (t) => {
  const locks = new KeyLocks();
  const [a, b] = [new KeyHolder(locks, unchanged), new KeyHolder(locks, unchanged)];
  a.take("x", 1);
  a.take("x", 1);
  t.equal(conflictOf(() => b.take("x", 1))?.holder, a);
  t.equal(b.isHeldByAnother("x"), true);
  t.equal(a.isHeldByAnother("x"), false);
  let calls = 0;
  const forget = a.whenReleased(() => calls++);
  a.whenReleased(() => calls++);
  forget();
  a.release();
  a.release();
  t.equal(calls, 1);
  t.equal(locks.size, 0);
  t.equal(
    conflictOf(() => b.take("x", 1)),
    null,
  );
  a.whenReleased(() => calls++);
  t.equal(calls, 2, "one that has ended calls at once");
});

t.test("a key that changed since the snapshot is nobody's fault", async (t) => {
  const locks = new KeyLocks();
  const holder = new KeyHolder(locks, (text, snapshot) => text === "new" && snapshot < 5);
  t.equal(conflictOf(() => holder.take("new", 4))?.holder, null);
  t.equal(
    conflictOf(() => holder.take("new", 5)),
    null,
  );
});

t.test("waits that would close a circle are seen", async (t) => {
  const locks = new KeyLocks();
  const [a, b, c] = [1, 2, 3].map(() => new KeyHolder(locks, unchanged)) as [KeyHolder, KeyHolder, KeyHolder];
  a.waitsFor = [b];
  b.waitsFor = [c];
  t.equal(a.waitsOn(c), true);
  t.equal(c.waitsOn(a), false);
});

t.test("who holds a written key is found from either side", async (t) => {
  const locks = new KeyLocks();
  const [a, b] = [new KeyHolder(locks, unchanged), new KeyHolder(locks, unchanged)];
  t.same(locks.holdersAmong(new Map([["x", 1]]), [], null), []);
  for (const key of ["x", "y", "z"]) a.take(key, 1);
  t.same(locks.holdersAmong(new Map([["x", 1]]), [], null), [a], "few writes, many held");
  t.same(locks.holdersAmong(new Map([["x", 1]]), [], a), [], "its own");
  const many = new Map(Array.from({ length: 10 }, (_, i) => [i === 5 ? "y" : `k${i}`, 1]));
  t.same(locks.holdersAmong(many, [], b), [a], "many writes, few held");
  t.same(locks.holdersAmong(new Map(), [new Set(["z"])], b), [a], "in a load");
  t.same(locks.holdersAmong(new Map(), [new Set(["w"])], b), []);
});

t.test("rows that are shared exclude those that change them, and not each other", async (t) => {
  const locks = new KeyLocks();
  const [a, b, c] = [1, 2, 3].map(() => new KeyHolder(locks, unchanged)) as [KeyHolder, KeyHolder, KeyHolder];
  const goTogether = (one: LockStrength, other: LockStrength): boolean => {
    const [first, second] = [new KeyHolder(locks, unchanged), new KeyHolder(locks, unchanged)];
    first.take("row", 1, one);
    const conflict = conflictOf(() => second.take("row", 1, other));
    t.equal(second.isHeldByAnother("row", other), conflict !== null);
    if (conflict !== null) t.same(conflict.holders, [first]);
    first.release();
    second.release();
    return conflict === null;
  };
  const together = LOCK_STRENGTHS.map((one) =>
    LOCK_STRENGTHS.map((other) => (goTogether(one, other) ? "+" : "-")).join(""),
  );
  t.same(together, ["+++-", "++--", "+---", "----"], "as in PostgreSQL's manual");
  t.equal(locks.size, 0);

  a.take("x", 1, "share");
  b.take("x", 1, "share");
  b.take("x", 1, "key share");
  t.same(conflictOf(() => c.take("x", 1))?.holders, [a, b]);
  t.same(conflictOf(() => a.take("x", 1))?.holders, [b], "one that wants more waits for the others");
  t.equal(locks.size, 1);
  a.release();
  t.same(conflictOf(() => c.take("x", 1))?.holders, [b]);
  b.take("x", 1);
  t.same(conflictOf(() => c.take("x", 1, "key share"))?.holders, [b]);
  b.release();
  t.equal(locks.size, 0);
});

t.test("a circle through one of several holders is seen", async (t) => {
  const locks = new KeyLocks();
  const [a, b, c] = [1, 2, 3].map(() => new KeyHolder(locks, unchanged)) as [KeyHolder, KeyHolder, KeyHolder];
  for (const each of [a, b, c]) each.take("x", 1, "share");
  a.waitsFor = conflictOf(() => a.take("x", 1))!.holders;
  const met = conflictOf(() => c.take("x", 1))!.holders;
  t.same(met, [a, b]);
  t.equal(
    met.some((each) => each.waitsOn(c)),
    true,
  );
});

t.test("a commit without locks respects shared keys", async (t) => {
  const locks = new KeyLocks();
  const [a, b] = [new KeyHolder(locks, unchanged), new KeyHolder(locks, unchanged)];
  a.take("x", 1, "key share");
  t.same(locks.holdersAmong(new Map([["x", 1]]), [], null), [a]);
  b.take("y", 1);
  t.same(locks.holdersAmong(new Map([["x", 1]]), [], b), [a]);
  t.same(locks.holdersAmong(new Map([["x", 1]]), [], a), []);
  t.same(locks.holdersAmong(new Map(), [new Set(["x"])], b), [a]);
});
