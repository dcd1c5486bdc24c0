/**
 * Makes test/fixtures/releases/{release}: a data directory that this build's server has written, with something of
 * every model, and what it answers about it. Run once per release, after `npm run build`, and commit what it makes;
 * every later build opens it in test/e2e/data-fixture.test.ts. See docs/guide/upgrade.md.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fill } from "../dist/test/e2e/data-fixture.js";
import { TestServer } from "../dist/test/e2e/server.js";

const PARTITIONS = 2;
// What can be made anew is left out: saved indexes; and what a running server alone needs.
const LEFT_OUT = ["indexes", "LOCK", "LOG", "LOG.old.*", "spill-*", "models"];

const release = JSON.parse(readFileSync("package.json", "utf8")).version;
const folder = join("test/fixtures/releases", process.argv[2] ?? release);
const server = await TestServer.start({ TESSERA_ACTORS: String(PARTITIONS) });
try {
  const filled = await fill(server);
  await server.terminate();
  const { format } = JSON.parse(readFileSync(join(server.directory, "partition-0", "FORMAT"), "utf8"));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const archive = join(folder, "data.tar.gz");
  const excludes = LEFT_OUT.map((name) => `--exclude=${name}`);
  execFileSync("tar", ["-C", server.directory, ...excludes, "-czf", archive, "."]);
  const recorded = { release, format, partitions: PARTITIONS, ...filled };
  writeFileSync(join(folder, "recorded.json"), `${JSON.stringify(recorded, null, 1)}\n`);
  console.log(`${folder}: format ${format}, ${filled.reads.length} answers, ${statSync(archive).size} bytes`);
} finally {
  await server.stop();
}
