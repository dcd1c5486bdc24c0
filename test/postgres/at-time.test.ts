/** What is to be done at a time, also one that is further away than timers can be set for. */
import t from "tap";
import { atTime } from "../../src/postgres/at-time.js";
import { FakeClock } from "../gateway/fake-clock.js";

const DAY_MS = 86_400_000;

t.test("it runs at the time, once", (t) => {
  const clock = new FakeClock();
  let runs = 0;
  atTime(clock, clock.wall() + 90 * DAY_MS, () => runs++);
  clock.advance(89 * DAY_MS);
  t.equal(runs, 0);
  clock.advance(DAY_MS);
  t.equal(runs, 1);
  clock.advance(90 * DAY_MS);
  t.equal(runs, 1);
  t.end();
});

t.test("a time that has passed is now; one that is cancelled never comes", (t) => {
  const clock = new FakeClock();
  let runs = 0;
  atTime(clock, clock.wall() - 1, () => runs++);
  clock.advance(0);
  t.equal(runs, 1);
  const cancel = atTime(clock, clock.wall() + 60 * DAY_MS, () => runs++);
  clock.advance(30 * DAY_MS);
  cancel();
  clock.advance(60 * DAY_MS);
  t.equal(runs, 1);
  t.end();
});
