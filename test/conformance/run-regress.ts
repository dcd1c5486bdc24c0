/**
 * `make conformance-regress`: PostgreSQL's regression scripts by psql, all or those named; for each the statements that
 * fail here and not in PostgreSQL, and at the end what they fail with, the most frequent first. WHY=1 prints each of
 * them. ANSWERS=FOLDER keeps what psql prints for both.
 */
import { Regress, regressFolder, type ScriptResult, scriptsOf } from "./regress.js";

const KINDS_SHOWN = 40;
const folder = regressFolder();
if (typeof folder === "string") {
  console.log(`skipped: ${folder}`);
  process.exit(0);
}
const all = scriptsOf(folder.path);
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !all.includes(name));
if (unknown.length > 0) throw new Error(`no script ${unknown.join(", ")} in ${folder.path}/sql`);
const regress = await Regress.start(folder.path, process.env.ANSWERS ?? null);
if (regress === null) {
  console.log("skipped: there is no PostgreSQL to compare with (apt-get install postgresql)");
  process.exit(0);
}

const results: ScriptResult[] = [];
const kinds = new Map<string, number>();
const cells = (...numbers: readonly (number | string)[]) => numbers.map((n) => String(n).padStart(9)).join(" ");
console.log(`${"script".padEnd(24)} ${cells("only ours", "only PG's", "both", "same code")}`);
try {
  for (const name of wanted.length > 0 ? wanted : all) {
    const result = await regress.run(name);
    results.push(result);
    const { ours, theirs, both, sameState, isLost, isLate } = result;
    const remark = isLost ? "  the connection was lost" : isLate ? "  took too long" : "";
    console.log(`${name.padEnd(24)} ${cells(ours.length, theirs.length, both, sameState)}${remark}`);
    for (const { line, sqlstate, message } of ours) {
      if (process.env.WHY === "1") console.log(`  ${name}.sql:${line} ${sqlstate} ${message}`);
      const kind = `${sqlstate} ${message.replace(/"[^"]*"/g, '"…"').replace(/\d+/g, "0")}`;
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
    if (process.env.WHY === "1") {
      for (const { line, sqlstate, message } of theirs)
        console.log(`  ${name}.sql:${line} none; PostgreSQL: ${sqlstate} ${message}`);
    }
  }
} finally {
  await regress.stop();
}

const sum = (count: (result: ScriptResult) => number) => results.reduce((total, result) => total + count(result), 0);
const totals = [sum(({ ours }) => ours.length), sum(({ theirs }) => theirs.length), sum(({ both }) => both)];
console.log(
  `${`${results.length} scripts`.padEnd(24)} ${cells(
    ...totals,
    sum(({ sameState }) => sameState),
  )}`,
);
const lost = results.filter(({ isLost }) => isLost).length;
const late = results.filter(({ isLate }) => isLate).length;
console.log(`${lost} connections lost, ${late} scripts not done in time`);
console.log("\nWhat fails here only:");
for (const [kind, count] of [...kinds].sort((a, b) => b[1] - a[1]).slice(0, KINDS_SHOWN)) {
  console.log(`${String(count).padStart(6)}  ${kind}`);
}
process.exitCode = lost > 0 ? 1 : 0;
