/** A stretch ends when its time is over, and at once where a piece of work is too large for it. */
import t from "tap";
import { allowLongStretch, beginStretch, endStretch, Overrun, spend } from "../../src/protocol/stretch.js";
import { Numeric } from "../../src/values/numeric.js";
import { numericLn } from "../../src/values/numeric-math.js";

const overruns = (work: () => unknown): boolean => {
  try {
    work();
    return false;
  } catch (error) {
    if (error instanceof Overrun) return true;
    throw error;
  } finally {
    endStretch();
  }
};

/** A stretch whose time was over long ago. */
const beginLate = (): void => beginStretch(performance.now() - 1_000_000);

t.test("outside of a stretch nothing overruns", async (t) => {
  endStretch();
  t.notOk(overruns(() => spend(1e12)));
});

t.test("a large piece ends a stretch before it begins, but not one that may be long", async (t) => {
  beginStretch(performance.now());
  t.ok(overruns(() => spend(100_000_000)));
  beginStretch(performance.now());
  allowLongStretch(60_000);
  t.notOk(overruns(() => spend(100_000_000)));
});

t.test("small pieces are counted together; the second look that finds the stretch over ends it", async (t) => {
  beginLate();
  let pieces = 0;
  t.ok(
    overruns(() => {
      beginLate();
      // The first look gives a stretch that was found old one of its own.
      for (; pieces < 1_000_000_000; pieces++) spend(1000);
    }),
  );
  t.ok(pieces >= 499, "both looks came after enough announced work");
});

t.test("a long stretch ends, too", async (t) => {
  beginStretch(performance.now());
  allowLongStretch(7);
  const until = performance.now() + 20;
  while (performance.now() < until);
  t.ok(overruns(() => spend(300_000)));
});

t.test("steps over long numbers count", async (t) => {
  const long = Numeric.parse(`7${"3".repeat(100_000)}.5`);
  const longer = Numeric.parse(`7${"3".repeat(100_000)}.50001`);
  const fine = Numeric.parse(`7.${"3".repeat(16_000)}`);
  const count = (work: () => unknown): boolean => {
    let over = false;
    beginStretch(performance.now() - 1_000_000);
    try {
      for (let i = 0; i < 100_000 && !over; i++) work();
    } catch (error) {
      over = error instanceof Overrun;
    }
    endStretch();
    return over;
  };
  t.ok(count(() => long.compare(longer)));
  t.ok(count(() => long.trimScale()));
  t.ok(count(() => long.toString()));
  t.ok(count(() => numericLn(fine)));
});

t.test("trimming takes every zero after the point and no other", async (t) => {
  for (const zeros of [0, 1, 2, 63, 64, 65, 127, 1000, 16_000]) {
    const text = `12.5${"0".repeat(zeros)}`;
    t.equal(Numeric.parse(text).trimScale().toString(), "12.5", `${zeros} zeros`);
    t.equal(
      Numeric.parse(`100.${"0".repeat(zeros + 1)}`)
        .trimScale()
        .toString(),
      "100",
    );
  }
});
