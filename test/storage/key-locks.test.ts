/** Keys that transactions hold against each other. */
import t from "tap";
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
  a.waitsFor = b;
  b.waitsFor = c;
  t.equal(a.waitsOn(c), true);
  t.equal(c.waitsOn(a), false);
});

t.test("who holds a written key is found from either side", async (t) => {
  const locks = new KeyLocks();
  const [a, b] = [new KeyHolder(locks, unchanged), new KeyHolder(locks, unchanged)];
  t.equal(locks.holderAmong(new Map([["x", 1]]), [], null), null);
  for (const key of ["x", "y", "z"]) a.take(key, 1);
  t.equal(locks.holderAmong(new Map([["x", 1]]), [], null), a, "few writes, many held");
  t.equal(locks.holderAmong(new Map([["x", 1]]), [], a), null, "its own");
  const many = new Map(Array.from({ length: 10 }, (_, i) => [i === 5 ? "y" : `k${i}`, 1]));
  t.equal(locks.holderAmong(many, [], b), a, "many writes, few held");
  t.equal(locks.holderAmong(new Map(), [new Set(["z"])], b), a, "in a load");
  t.equal(locks.holderAmong(new Map(), [new Set(["w"])], b), null);
});
