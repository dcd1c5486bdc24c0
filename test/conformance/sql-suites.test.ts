/** A fixed sample of the public SQL suites: nothing may fail that is not on the committed lists. */
import t from "tap";
import { sized } from "../lengths.js";
import { inProcess, knownFailures, runSuite, SUITES, suitesPresent } from "./sql-suites.js";
import { WireDoor } from "./wire-adapter.js";

const EVERY = sized(12, 2);
const every = (_name: string, i: number): boolean => i % EVERY === 0;
const SHORT = ["int4", "int8", "numeric", "strings", "select"];
const REGRESS = sized(SHORT, [...SHORT, "aggregates", "window", "join"]);
const SAMPLE = {
  duckdb: every,
  risingwave: every,
  "pg-regress": (name: string) => REGRESS.includes(name.replace(/\.slt$/, "")),
};

for (const [folder, chosen] of Object.entries(SAMPLE)) {
  const skip = suitesPresent() ? false : `no suites in ${SUITES}`;
  t.test(`${folder}`, { skip, timeout: 300_000 }, async (t) => {
    const result = await runSuite(folder, chosen);
    const known = knownFailures(folder);
    t.ok(result.pass > 200, `${result.files} files`);
    const surprises = [...result.failures].filter(([record]) => !known.has(record));
    t.same(surprises, []);
    t.comment(`${folder}: ${result.pass} of ${result.pass + result.fail} records pass`);
  });
}

/**
 * Numbers are taken from a sequence though the statement fails later: before or after other values, which is as good.
 */
const GAPS = /^sequence\.slt:/;
/** In turns some statements of the others take half a minute. */
const IN_TURNS: Readonly<Record<string, (name: string, i: number) => boolean>> = {
  duckdb: (_, i) => i % sized(20, 5) === 0,
  "pg-regress": sized(
    (name: string) => /^(int8|strings)\.slt$/.test(name),
    (_: string, i: number) => i % 5 === 0,
  ),
};

t.test(
  "statements in turns",
  { skip: suitesPresent() ? false : `no suites in ${SUITES}`, timeout: 300_000 },
  async (t) => {
    for (const [folder, chosen] of Object.entries(IN_TURNS)) {
      const result = await runSuite(folder, chosen, inProcess(true));
      const known = knownFailures(folder);
      t.ok(result.pass > 200, `${result.files} files of ${folder}`);
      const surprises = [...result.failures].filter(([record]) => !known.has(record) && !GAPS.test(record));
      t.same(surprises, []);
    }
  },
);

/**
 * Of each folder a few files: what differs between the doors is how values, errors and several statements go through.
 */
const BY_PROTOCOL: Readonly<Record<string, (name: string, i: number) => boolean>> = {
  duckdb: (_, i) => i % sized(60, 10) === 0,
  risingwave: (_, i) => i % sized(40, 5) === 0,
  params: (_, i) => i % sized(20, 4) === 0,
  "pg-regress": (name) => sized(/^(int8|strings)\.slt$/, /^(int8|strings|select|numeric|interval)\.slt$/).test(name),
};

t.test(
  "PostgreSQL's protocol",
  { skip: suitesPresent() ? false : `no suites in ${SUITES}`, timeout: 300_000 },
  async (t) => {
    const door = await WireDoor.start();
    t.teardown(() => door.stop());
    for (const [folder, chosen] of Object.entries(BY_PROTOCOL)) {
      const result = await runSuite(folder, chosen, door);
      const known = knownFailures(folder);
      t.ok(result.pass > 50, `${result.files} files of ${folder}`);
      const surprises = [...result.failures].filter(([record]) => !known.has(record));
      t.same(surprises, []);
      t.comment(`${folder}: ${result.pass} of ${result.pass + result.fail} records pass`);
    }
  },
);
