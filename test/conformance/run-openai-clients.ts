/**
 * `make conformance-openai`: packages that people use with OpenAI's interface, each with its own quick start, against a server whose
 * provider is scripted on loopback. Installs the packages from npm into dist.
 */
import { cpSync, readdirSync } from "node:fs";
import { type Asked, FakeProvider, openaiPieces, type Part } from "../ai/fake-provider.js";
import { TestServer } from "../e2e/server.js";
import { installFromNpm, print, printCounts, runProgram } from "./run-program.js";

const SOURCES = new URL("../../../test/conformance/openai-clients/", import.meta.url).pathname;
/** Beside the compiled programs, so that `make clean` removes it. */
const FOLDER = new URL("../../conformance-openai/", import.meta.url).pathname;

cpSync(SOURCES, FOLDER, { recursive: true });
cpSync(new URL("../clients/steps.mjs", `file://${SOURCES}`).pathname, `${FOLDER}steps.mjs`);
installFromNpm(FOLDER);
const all = readdirSync(SOURCES)
  .filter((name) => name.endsWith(".mjs"))
  .map((name) => name.slice(0, -".mjs".length));
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !all.includes(name));
if (unknown.length > 0) throw new Error(`no client ${unknown.join(", ")}; there are ${all.join(", ")}`);

/** Calls the tool that is offered, once; writes the JSON that is asked for; says hello otherwise. */
function partsOf({ body }: Asked): readonly Part[] {
  const { messages, tools = [], response_format: format } = body;
  const answered = messages.some(({ role }: { role: string }) => role === "tool");
  if (tools.length > 0 && !answered) return [{ call: tools[0].function.name, json: ['{"city":', '"Kiel"}'] }];
  if (answered) return ["It rains ", "in Kiel."];
  if (format?.type === "json_schema") return ['{"city":"Kiel"}'];
  if (format?.type === "json_object") return ['{"memory":[{"id":"0","text":"Likes boats","attributed_to":"user"}]}'];
  return ["Hello ", "there."];
}

const fake = await FakeProvider.start((asked) => ({ pieces: openaiPieces(partsOf(asked)) }));
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
  const { raw_key: key } = (await server.expect(201, "POST", "/v1/api-keys", { name: "clients" })).body.data;
  const { PATH = "" } = process.env;
  const environment = {
    ...{ PATH, HOME: FOLDER },
    ...{ OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: key },
    // Nothing is sent anywhere else.
    ...{ MEM0_TELEMETRY: "false", OPENAI_AGENTS_DISABLE_TRACING: "1", LANGSMITH_TRACING: "false" },
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
