/**
 * `make conformance-openai`: packages that people use with OpenAI's interface, each with its own quick start, against a
 * server whose provider is scripted on loopback. Installs the packages from npm into dist.
 */
import { type Asked, FakeProvider, openaiPieces, type Part } from "../ai/fake-provider.js";
import { TestServer } from "../e2e/server.js";
import { nodePrograms, printCounts, runPrograms } from "./run-program.js";

const programs = nodePrograms("openai-clients", "conformance-openai");

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
  ...fake.settings("scripted"),
});
try {
  const schema = { fields: [{ name: "text", type: "string", embed: true }] };
  await server.expect(201, "POST", "/v1/collections", { name: "handbook", schema });
  const document = { text: "The ferry leaves at noon." };
  await server.expect(201, "POST", "/v1/collections/handbook/documents", document);
  const { raw_key: key } = (await server.expect(201, "POST", "/v1/api-keys", { name: "clients" })).body.data;
  const environment = {
    ...{ OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: key },
    // Nothing is sent anywhere else.
    ...{ MEM0_TELEMETRY: "false", OPENAI_AGENTS_DISABLE_TRACING: "1", LANGSMITH_TRACING: "false" },
  };
  await runPrograms(programs, () => environment);
} finally {
  await server.stop();
  await fake.close();
}
printCounts();
