import fc from "fast-check";
import t from "tap";
import { LoginThrottle } from "../../src/directory/login-throttle.js";
import type { DbError } from "../../src/protocol/errors.js";

const limits = { failuresMax: 5, delaySeconds: 2, delaySecondsMax: 900, trackedMax: 1000 };
const HOUR_MS = 3600 * 1000;

function throttleAt(clock: { now: number }, overrides: Partial<typeof limits> = {}): LoginThrottle {
  return new LoginThrottle({ ...limits, ...overrides, now: () => clock.now });
}

/** 0 when the try was let through (and failed), else the seconds to wait. */
function fail(throttle: LoginThrottle, key = "ada"): number {
  try {
    throttle.attempt(key).failed();
    return 0;
  } catch (error) {
    return (error as DbError).details!.retry_after_seconds as number;
  }
}

t.test("five free failures, then delays that double up to the bound", async (t) => {
  const clock = { now: 0 };
  const throttle = throttleAt(clock);
  for (let i = 0; i < 5; i++) t.equal(fail(throttle), 0);
  const delays = [];
  for (let i = 0; i < 12; i++) {
    const delay = fail(throttle);
    delays.push(delay);
    clock.now += delay * 1000;
    t.equal(fail(throttle), 0, "the stated wait is enough");
  }
  t.same(delays, [2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
});

t.test("whatever the timing, an attacker gets no more tries than the delays allow", async () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 120_000 }), { minLength: 1, maxLength: 300 }), (pauses) => {
      const clock = { now: 0 };
      const throttle = throttleAt(clock);
      let through = 0;
      for (const pause of pauses) {
        clock.now += pause;
        if (fail(throttle) === 0) through++;
      }
      let neededMs = 0;
      for (let i = 0; i < through - limits.failuresMax; i++) neededMs += Math.min(900, 2 * 2 ** i) * 1000;
      return clock.now >= neededMs;
    }),
  );
});

t.test("the stated wait is exact: a moment earlier is refused, then let through", async () => {
  fc.assert(
    fc.property(fc.integer({ min: 5, max: 20 }), fc.integer({ min: 0, max: 900_000 }), (failures, pause) => {
      const clock = { now: 0 };
      const throttle = throttleAt(clock);
      for (let i = 0; i < failures; i++) clock.now += fail(throttle) * 1000;
      clock.now += pause;
      const wait = fail(throttle);
      if (wait === 0) return true;
      clock.now += wait * 1000 - 1001;
      if (fail(throttle) === 0) return false;
      clock.now += 1001;
      return fail(throttle) === 0;
    }),
  );
});

t.test("tries that are not decided yet count", async (t) => {
  const clock = { now: 0 };
  const throttle = throttleAt(clock);
  const attempts = Array.from({ length: 5 }, () => throttle.attempt("ada"));
  t.throws(() => throttle.attempt("ada"), { code: "rate_limited", details: { retry_after_seconds: 1 } });
  attempts[0]!.abandoned();
  attempts[0] = throttle.attempt("ada");
  for (const attempt of attempts) attempt.failed();
  clock.now += 2000;
  throttle.attempt("ada");
  t.throws(() => throttle.attempt("ada"), { code: "rate_limited" }, "one at a time once it was closed");
});

t.test("success forgets the failures, and so does a day without any", async (t) => {
  const clock = { now: 0 };
  const throttle = throttleAt(clock);
  for (let i = 0; i < 4; i++) fail(throttle);
  throttle.attempt("ada").succeeded();
  t.equal(throttle.size, 0);
  for (let i = 0; i < 5; i++) t.equal(fail(throttle), 0);
  clock.now += 24 * HOUR_MS;
  for (let i = 0; i < 5; i++) t.equal(fail(throttle), 0);
  t.equal(fail(throttle), 2);
});

t.test("subjects do not disturb each other, and their number is bounded", async (t) => {
  const clock = { now: 0 };
  const throttle = throttleAt(clock, { trackedMax: 100 });
  for (let i = 0; i < 5; i++) fail(throttle, "ada");
  for (let i = 0; i < 99; i++) {
    t.equal(fail(throttle, `other ${i}`), 0);
    if (i % 10 === 0) t.equal(fail(throttle, "ada"), 2, "one that is tried again and again stays");
  }
  for (let i = 0; i < 1000; i++) fail(throttle, `flood ${i}`);
  t.equal(throttle.size, 100);
});
