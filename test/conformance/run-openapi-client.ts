/**
 * `make conformance-openapi`: openapi-typescript makes types from the OpenAPI document that a server gives, a program
 * over openapi-fetch is checked against them with `tsc --strict`, and runs. Installs the packages from npm into dist.
 */
import { spawnSync } from "node:child_process";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TestServer } from "../e2e/server.js";
import { installFromNpm, print, printCounts, runProgram } from "./run-program.js";

const SOURCES = new URL("../../../test/conformance/openapi-client/", import.meta.url).pathname;
/** Beside the compiled programs, so that `make clean` removes it. */
const FOLDER = new URL("../../conformance-openapi/", import.meta.url).pathname;
const OPTIONS = ["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "--skipLibCheck"];
const MODULES = [
  "--target",
  "es2022",
  "--module",
  "nodenext",
  "--types",
  "node",
  "--typeRoots",
  "../../node_modules/@types",
];

function run(what: string, program: string, args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(join(FOLDER, "node_modules/.bin", program), args, {
    cwd: FOLDER,
    encoding: "utf8",
  });
  const result = status === 0 ? "passed" : "failed";
  print(program, 18, [{ what, result, message: status === 0 ? "" : `${stdout}${stderr}`.trim() }]);
}

cpSync(SOURCES, FOLDER, { recursive: true });
installFromNpm(FOLDER);
const server = await TestServer.start({ TESSERA_ACTORS: "1" });
try {
  const document = await (await fetch(`${server.url}/v1/openapi.json`)).text();
  writeFileSync(join(FOLDER, "openapi.json"), document);
  run("types of all routes", "openapi-typescript", ["openapi.json", "-o", "schema.d.ts"]);
  run("a program, strictly", "tsc", [...OPTIONS, ...MODULES, "program.mts"]);
  const environment = { PATH: process.env.PATH ?? "", TESSERA_URL: server.url, TESSERA_KEY: server.token };
  const program = { name: "openapi-fetch", command: [process.execPath, "program.mjs"] as const };
  print(program.name, 18, await runProgram(FOLDER, program, environment));
} finally {
  await server.stop();
}
printCounts();
