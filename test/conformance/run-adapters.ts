/**
 * `make conformance-adapters`: clients/adapters with the frameworks that they are for, against a server whose provider is scripted on
 * loopback. Installs the frameworks from npm into dist.
 */
import { cpSync, readdirSync } from "node:fs";
import { FakeProvider, openaiPieces } from "../ai/fake-provider.js";
import { TestServer } from "../e2e/server.js";
import { installFromNpm, print, printCounts, runProgram } from "./run-program.js";

const ROOT = new URL("../../../", import.meta.url).pathname;
const SOURCES = `${ROOT}test/conformance/adapters/`;
/** Beside the compiled programs, so that `make clean` removes it. */
const FOLDER = new URL("../../conformance-adapters/", import.meta.url).pathname;

cpSync(SOURCES, FOLDER, { recursive: true });
cpSync(`${ROOT}test/conformance/clients/steps.mjs`, `${FOLDER}steps.mjs`);
installFromNpm(FOLDER);
for (const [from, to] of [
  ["typescript", "tessera-client"],
  ["adapters", "tessera-adapters"],
]) {
  cpSync(`${ROOT}clients/${from}`, `${FOLDER}node_modules/${to}`, { recursive: true });
}
const all = readdirSync(SOURCES)
  .filter((name) => name.endsWith(".mjs"))
  .map((name) => name.slice(0, -".mjs".length));
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !all.includes(name));
if (unknown.length > 0) throw new Error(`no adapter ${unknown.join(", ")}; there are ${all.join(", ")}`);

const fake = await FakeProvider.start(({ body }) => {
  const isFact = body.response_format?.type === "json_object";
  const memory = '{"memory":[{"id":"0","text":"Likes boats","attributed_to":"user"}]}';
  return { pieces: openaiPieces(isFact ? [memory] : ["Hello ", "there."]) };
});
const server = await TestServer.start({
  TESSERA_QUERY_AI_SERVICE_PROVIDER: "openai",
  TESSERA_QUERY_AI_SERVICE_BASE_URL: `${fake.url}/v1`,
  TESSERA_QUERY_AI_SERVICE_MODEL: "scripted",
});
try {
  const schema = { fields: [{ name: "text", type: "string", embed: true }] };
  await server.expect(201, "POST", "/v1/collections", { name: "handbook", schema });
  const document = { text: "The ferry leaves at noon." };
  await server.expect(201, "POST", "/v1/collections/handbook/documents", document);
  const { raw_key: key } = (await server.expect(201, "POST", "/v1/api-keys", { name: "adapters" })).body.data;
  const environment = {
    ...{ PATH: process.env.PATH ?? "", HOME: FOLDER },
    ...{ TESSERA_URL: server.url, TESSERA_KEY: key, OPENAI_API_KEY: key },
    // Nothing is sent anywhere else.
    ...{ MEM0_TELEMETRY: "false", LANGSMITH_TRACING: "false" },
  };
  const names = all.filter((name) => wanted.length === 0 || wanted.includes(name));
  const width = Math.max(...names.map(({ length }) => length));
  for (const name of names) {
    const program = { name, command: [process.execPath, `${name}.mjs`] as const };
    print(name, width, await runProgram(FOLDER, program, environment));
  }
} finally {
  await server.stop();
  await fake.close();
}
printCounts();
