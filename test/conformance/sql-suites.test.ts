/** A fixed sample of the public SQL suites: nothing may fail that is not on the committed lists. */
import t from "tap";
import { knownFailures, runSuite, SUITES, suitesPresent } from "./sql-suites.js";

const everyOther = (_name: string, i: number): boolean => i % 2 === 0;
const REGRESS = ["int4", "int8", "numeric", "strings", "select", "aggregates", "window", "join"];
const SAMPLE = {
  duckdb: everyOther,
  risingwave: everyOther,
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
