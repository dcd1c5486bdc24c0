/** How Cypher's temporal values are printed and ordered. */
import fc from "fast-check";
import t from "tap";
import {
  CypherDate,
  Duration,
  LocalDateTime,
  LocalTime,
  type Temporal,
  ZonedDateTime,
  ZonedTime,
} from "../../src/values/temporal.js";
import { compareTemporal, temporalKey } from "../../src/values/temporal-order.js";
import { temporalToText } from "../../src/values/temporal-text.js";

const HOUR = 3600e9;

t.test("text", async (t) => {
  const cases: [Temporal, string][] = [
    [new CypherDate(0), "1970-01-01"],
    [new CypherDate(-719_528), "0000-01-01"],
    [new CypherDate(-719_529), "-0001-12-31"],
    [new CypherDate(2_932_897), "+10000-01-01"],
    [new LocalTime(0), "00:00"],
    [new LocalTime(12 * HOUR + 31 * 60e9 + 14e9), "12:31:14"],
    [new LocalTime(12 * HOUR + 645e6), "12:00:00.645"],
    [new LocalTime(24 * HOUR - 1), "23:59:59.999999999"],
    [new ZonedTime(0, 0), "00:00Z"],
    [new ZonedTime(HOUR, -7507), "01:00-02:05:07"],
    [new LocalDateTime(1, HOUR), "1970-01-02T01:00"],
    [new ZonedDateTime(1, HOUR, 3600, "Europe/Stockholm"), "1970-01-02T01:00+01:00[Europe/Stockholm]"],
    [new Duration(0, 0, 0, 0), "PT0S"],
    [new Duration(14, 3, 3661, 1), "P1Y2M3DT1H1M1.000000001S"],
    [new Duration(-14, -3, -3661, 0), "P-1Y-2M-3DT-1H-1M-1S"],
    [new Duration(0, 0, -1, 999_000_000), "PT-0.001S"],
    [new Duration(0, 0, -86_400, 100_000_000), "PT-23H-59M-59.9S"],
    [new Duration(11, -1, 0, 0), "P11M-1D"],
    [new Duration(0, 0, 63_113_903_968_377_599n, 0), "PT17531639991215H59M59S"],
    [new Duration(0, 0, -63_113_903_968_377_599n, 1), "PT-17531639991215H-59M-58.999999999S"],
  ];
  for (const [value, text] of cases) t.equal(temporalToText(value), text);
});

t.test("order", async (t) => {
  const rising: Temporal[][] = [
    [new CypherDate(-5), new CypherDate(3)],
    [new LocalTime(1), new LocalTime(2)],
    // By instant, then by offset.
    [new ZonedTime(9 * HOUR, 0), new ZonedTime(10 * HOUR, 3600), new ZonedTime(9.5 * HOUR, 0)],
    [
      new ZonedDateTime(1, 0, 7200, null),
      new ZonedDateTime(0, 23 * HOUR, 0, null),
      new ZonedDateTime(1, 0, 3600, null),
      new ZonedDateTime(1, 0, 3600, "Europe/Stockholm"),
      new ZonedDateTime(1, 1, 3600, "Europe/Stockholm"),
      new ZonedDateTime(30, 0, 64_800, null),
    ],
    [new LocalDateTime(1, 5), new LocalDateTime(1, 6), new LocalDateTime(2, 0)],
    [
      new Duration(-1, 30, 0, 0),
      new Duration(0, 0, 0, 1),
      new Duration(0, 0, 86_400, 0),
      new Duration(0, 1, 0, 0),
      new Duration(0, 30, 0, 0),
      new Duration(1, 0, 0, 0),
      new Duration(0, 0, 9_007_199_254_740_993n, 0),
      new Duration(0, 0, 9_007_199_254_740_995n, 0),
    ],
  ];
  for (const values of rising) {
    for (const [i, a] of values.entries()) {
      for (const [j, b] of values.entries()) {
        const text = `${temporalToText(a)} to ${temporalToText(b)}`;
        t.equal(Math.sign(compareTemporal(a, b)), Math.sign(i - j), text);
        t.equal(temporalKey(a) === temporalKey(b), i === j, text);
      }
    }
  }
});

t.test("the order is total, and equal values are those of one key", async () => {
  const offset = fc.constantFrom(-3600, 0, 3600);
  const nanos = fc.integer({ min: 0, max: 3 }).map((n) => n * HOUR);
  const days = fc.integer({ min: -2, max: 2 });
  const value = fc.oneof(
    fc.tuple(days, nanos, offset, fc.constantFrom(null, "A", "B")).map((x) => new ZonedDateTime(...x)),
    fc.tuple(nanos, offset).map((x) => new ZonedTime(...x)),
    fc.tuple(days, days, days, days).map(([a, b, c, d]) => new Duration(a, b * 30, c * 86_400, d + 2)),
    days.map((x) => new CypherDate(x)),
  );
  fc.assert(
    fc.property(value, value, value, (a, b, c) => {
      const ab = Math.sign(compareTemporal(a, b));
      const same = (temporalKey(a) === temporalKey(b)) === (ab === 0);
      const turned = Math.sign(compareTemporal(b, a)) === -ab || (ab === 0 && compareTemporal(b, a) === 0);
      return same && turned && !(ab <= 0 && compareTemporal(b, c) <= 0 && compareTemporal(a, c) > 0);
    }),
  );
});
