/**
 * `make conformance-sql`: all suites, or the folders named; prints a line per folder and what is not as the lists say.
 * DOOR=postgres: by PostgreSQL's protocol, against a server that is started for it.
 */
import {
  type Door,
  FOLDERS,
  inProcess,
  knownFailures,
  runSuite,
  SUITES,
  suitesPresent,
  writeKnownFailures,
} from "./sql-suites.js";
import { WireDoor } from "./wire-adapter.js";

if (!suitesPresent()) {
  console.log(`skipped: there are no suites in ${SUITES}`);
  process.exit(0);
}

const folders = process.argv.length > 2 ? process.argv.slice(2) : FOLDERS;
async function doorOf(name: string): Promise<Door> {
  if (name === "postgres") return WireDoor.start();
  if (name === "") return inProcess();
  throw new Error(`DOOR is ${name}; it can be "postgres", and without it the engine runs in process`);
}

let surprises = 0;
console.log("folder      files  records     pass     fail    pass%  same SQLSTATE");
for (const folder of folders) {
  const door = await doorOf(process.env.DOOR ?? "");
  const result = await runSuite(folder, undefined, door).finally(() => door.stop());
  const { files, pass, fail, codeSame, codeKnown } = result;
  const share = ((100 * pass) / (pass + fail)).toFixed(2);
  const cells = [
    String(files).padStart(5),
    ...[pass + fail, pass, fail].map((n) => String(n).padStart(8)),
    share.padStart(8),
  ];
  console.log(`${folder.padEnd(11)} ${cells.join(" ")}  ${codeSame}/${codeKnown}`);
  const known = knownFailures(folder);
  if (process.env.UPDATE === "1") writeKnownFailures(result);
  else {
    for (const [record, why] of result.failures) {
      if (known.has(record)) continue;
      surprises++;
      console.log(`  not known to fail: ${record} ${why}`);
    }
    const mended = [...known].filter((record) => !result.failures.has(record)).length;
    if (mended > 0) console.log(`  ${mended} records of the list pass now; UPDATE=1 takes them off`);
  }
}
process.exitCode = surprises > 0 ? 1 : 0;
