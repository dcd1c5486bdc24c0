/** A fixed sample of openCypher's TCK: no scenario may fail that is not on the committed list. */
import t from "tap";
import { sized } from "../lengths.js";
import { runTck, TCK, tckPresent } from "./tck.js";
import { knownScenarios } from "./tck-known.js";

const skip = tckPresent() ? false : `no TCK in ${TCK}`;

/** Of the files with scenarios. */
const EVERY = sized(8, 1);

t.test("openCypher's TCK", { skip, timeout: 600_000 }, async (t) => {
  const { pass, fail, failures } = await runTck({ every: EVERY });
  t.ok(pass > 200, `${pass} scenarios`);
  const known = knownScenarios();
  const surprises = [...failures].filter(([scenario]) => !known.has(scenario));
  t.same(surprises, []);
  t.comment(`${pass} of ${pass + fail} scenarios pass`);
});
