/**
 * `make conformance-bolt`: packages that speak Bolt, each with its own quick start, against a server and a tenant of its own.
 * Installs the packages from npm into dist.
 */
import { cpSync, readdirSync } from "node:fs";
import { boltPort, WITH_BOLT } from "../e2e/bolt-client.js";
import { passwordOf, TestServer } from "../e2e/server.js";
import { installFromNpm, print, printCounts, runProgram } from "./run-program.js";

const SOURCES = new URL("../../../test/conformance/bolt-clients/", import.meta.url).pathname;
/** Beside the compiled programs, so that `make clean` removes it. */
const FOLDER = new URL("../../conformance-bolt/", import.meta.url).pathname;

cpSync(SOURCES, FOLDER, { recursive: true });
cpSync(new URL("../clients/steps.mjs", `file://${SOURCES}`).pathname, `${FOLDER}steps.mjs`);
installFromNpm(FOLDER);
const all = readdirSync(SOURCES)
  .filter((name) => name.endsWith(".mjs"))
  .map((name) => name.slice(0, -".mjs".length));
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !all.includes(name));
if (unknown.length > 0) throw new Error(`no client ${unknown.join(", ")}; there are ${all.join(", ")}`);

const server = await TestServer.start({ ...WITH_BOLT, TESSERA_ACTORS: "1" });
try {
  const names = all.filter((name) => wanted.length === 0 || wanted.includes(name));
  const width = Math.max(...names.map(({ length }) => length));
  for (const name of names) {
    await server.tenant(name);
    const environment = {
      PATH: process.env.PATH ?? "",
      HOME: FOLDER,
      BOLT_URL: `neo4j://127.0.0.1:${boltPort(server)}`,
      BOLT_USER: `${name}-user`,
      BOLT_PASSWORD: passwordOf(name),
    };
    const program = { name, command: [process.execPath, `${name}.mjs`] as const };
    print(name, width, await runProgram(FOLDER, program, environment));
  }
} finally {
  await server.stop();
}
printCounts();
