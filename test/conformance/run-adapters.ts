/**
 * `make conformance-adapters`: clients/adapters with the frameworks that they are for, against a server whose provider
 * is scripted on loopback. Installs the frameworks from npm into dist.
 */
import { FakeProvider, openaiPieces } from "../ai/fake-provider.js";
import { TestServer } from "../e2e/server.js";
import { nodePrograms, printCounts, runPrograms } from "./run-program.js";

const programs = nodePrograms("adapters", "conformance-adapters", {
  "tessera-client": "clients/typescript",
  "tessera-adapters": "clients/adapters",
});

const fake = await FakeProvider.start(({ body }) => {
  const isFact = body.response_format?.type === "json_object";
  const memory = '{"memory":[{"id":"0","text":"Likes boats","attributed_to":"user"}]}';
  return { pieces: openaiPieces(isFact ? [memory] : ["Hello ", "there."]) };
});
const server = await TestServer.start({
  ...fake.settings("scripted"),
});
try {
  const schema = { fields: [{ name: "text", type: "string", embed: true }] };
  await server.expect(201, "POST", "/v1/collections", { name: "handbook", schema });
  const document = { text: "The ferry leaves at noon." };
  await server.expect(201, "POST", "/v1/collections/handbook/documents", document);
  const { raw_key: key } = (await server.expect(201, "POST", "/v1/api-keys", { name: "adapters" })).body.data;
  const environment = {
    ...{ TESSERA_URL: server.url, TESSERA_KEY: key, OPENAI_API_KEY: key },
    // Nothing is sent anywhere else.
    ...{ MEM0_TELEMETRY: "false", LANGSMITH_TRACING: "false" },
  };
  await runPrograms(programs, () => environment);
} finally {
  await server.stop();
  await fake.close();
}
printCounts();
