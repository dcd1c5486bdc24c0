/**
 * `make conformance-cypher`: the whole TCK, or the folders named, by Bolt with DOOR=bolt; prints a line per folder and
 * what is not as the list says.
 */
import { runTck, TCK, tckPresent } from "./tck.js";
import { knownScenarios, writeKnownScenarios } from "./tck-known.js";

if (!tckPresent()) {
  console.log(`skipped: there is no TCK in ${TCK}`);
  process.exit(0);
}

const under = process.argv.slice(2);
const { DOOR = "" } = process.env;
if (DOOR !== "" && DOOR !== "bolt") {
  throw new Error(`DOOR is ${DOOR}; it can be "bolt", and without it the engine runs in process`);
}
const { pass, fail, skipped, folders, failures } = await runTck({
  ...(under.length > 0 && { under }),
  ...(DOOR === "bolt" && { door: DOOR }),
});
for (const [folder, counts] of folders) console.log(`${folder.padEnd(42)} ${counts.pass} of ${counts.of}`);
console.log(`${pass} of ${pass + fail} scenarios pass: ${((100 * pass) / (pass + fail)).toFixed(2)}%`);
if (skipped > 0) console.log(`${skipped} scenarios need procedures of their own, which a server does not take`);
if (process.env.UPDATE === "1") writeKnownScenarios(failures);
else {
  const known = knownScenarios();
  const surprises = [...failures].filter(([scenario]) => !known.has(scenario));
  for (const [scenario, why] of surprises) console.log(`not known to fail: ${scenario}: ${why}`);
  process.exitCode = surprises.length > 0 ? 1 : 0;
}
