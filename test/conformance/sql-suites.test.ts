/** A fixed sample of the public SQL suites: nothing may fail that is not on the committed lists. */
import t from "tap";
import { knownFailures, runSuite, SUITES, suitesPresent } from "./sql-suites.js";

const SAMPLE: Readonly<Record<string, readonly string[] | undefined>> = {
  duckdb: undefined,
  risingwave: undefined,
  "pg-regress": [
    "int4.slt",
    "int8.slt",
    "numeric.slt",
    "strings.slt",
    "select.slt",
    "aggregates.slt",
    "window.slt",
    "join.slt",
  ],
};

for (const [folder, files] of Object.entries(SAMPLE)) {
  const skip = suitesPresent() ? false : `no suites in ${SUITES}`;
  t.test(`${folder}`, { skip, timeout: 300_000 }, async (t) => {
    const result = await runSuite(folder, files);
    const known = knownFailures(folder);
    const surprises = [...result.failures].filter(([record]) => !known.has(record));
    t.same(surprises, []);
    t.comment(`${folder}: ${result.pass} of ${result.pass + result.fail} records pass`);
  });
}
