/**
 * Runs the compiled tests with tap and ends with the line "N passed, N failed". Called by `make test`; arguments
 * are test files (default: all). Tests that start a server start the bundle, so it is made anew first.
 */
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { bundle } from "./bundle.mjs";

await bundle();
const tap = join(dirname(createRequire(import.meta.url).resolve("tap/package.json")), "dist", "esm", "run.mjs");
const tests = readdirSync("dist/test", { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".test.js"),
);
const files = process.argv.length > 2 ? process.argv.slice(2) : tests.sort().map((file) => join("dist/test", file));
const child = spawn(process.execPath, [tap, "run", "--reporter=tap", ...files], {
  stdio: ["ignore", "pipe", "inherit"],
});

// The whole TAP stream is long: passed files get a line each, failed ones everything they printed.
const counts = { pass: 0, fail: 0, skip: 0, todo: 0 };
let block = [];
for await (const line of createInterface({ input: child.stdout })) {
  const file = /^(ok|not ok) \d+ - (.*)$/.exec(line);
  if (file === null) block.push(line);
  else {
    if (file[1] === "not ok") for (const printed of block) console.log(printed);
    console.log(`${file[1]} - ${file[2]}`);
    block = [];
  }
  const summary = /^# \{ (.*) \}$/.exec(line);
  if (summary !== null)
    for (const part of summary[1].split(", ")) counts[part.split(": ")[0]] = Number(part.split(": ")[1]);
}
const code = await new Promise((resolve) =>
  child.exitCode === null ? child.on("close", resolve) : resolve(child.exitCode),
);
if (code !== 0) for (const line of block) console.log(line);
const skipped = counts.skip + counts.todo;
console.log(`${counts.pass} passed, ${counts.fail} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exitCode = code === 0 && counts.pass > 0 ? 0 : 1;
