/** The recipes that come with the server, imported, certified and executed; and recipes that have to be signed. */
import { generateKeyPairSync, sign } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import t from "tap";
import { parse } from "yaml";
import { readingRecipe } from "../security/authorization-cases.js";
import { TestServer } from "./server.js";

const FOLDER = new URL("../../../recipes/", import.meta.url);
const YAML = { headers: { "content-type": "application/yaml" } };

t.setTimeout(240_000);

t.test("each recipe that comes with the server is imported, certified and executed", async (t) => {
  const server = await TestServer.start();
  t.teardown(() => server.stop());
  const execute = (id: string, parameters: object, token: string) =>
    server.call("POST", `/v1/recipes/${id}/execute`, { parameters }, { token });
  const list = await server.expect(200, "GET", "/v1/recipes");
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".yaml"));
  t.ok(names.length >= 6);
  t.same(
    list.body.data.recipes.map(({ id }: { id: string }) => `${id}.yaml`),
    names.sort(),
  );
  t.ok(list.body.data.recipes.every(({ built_in }: { built_in: boolean }) => built_in));
  const token = await server.tenant("sampler");
  for (const name of names) {
    const text = readFileSync(new URL(name, FOLDER), "utf8");
    const { id, tests } = parse(text);
    const imported = await server.call("POST", "/v1/recipes/import", text, { token, ...YAML });
    t.equal(imported.status, 200, `${id}: ${JSON.stringify(imported.body.error ?? "the same version is there")}`);
    t.match(imported.body.data, { id, built_in: false, certificate: { tests: tests.length } });
    t.equal(imported.body.data.certificate.digest, imported.body.data.digest);
    for (const test of tests.filter(({ error }: { error?: string }) => error === undefined).slice(0, 1)) {
      const done = await execute(id, test.parameters ?? {}, token);
      t.equal(done.status, 200, `${id}, ${test.name}: ${JSON.stringify(done.body.error ?? "")}`);
      t.match(done.body.data, { success: true, dry_run: false, recipe_id: id });
      t.ok(done.body.data.statements_executed > 0);
    }
    const { executions } = (await server.expect(200, "GET", `/v1/recipes/${id}/executions`, undefined, { token })).body
      .data;
    t.ok(executions.every(({ status }: { status: string }) => status === "completed"));
  }
});

t.test("with a key configured recipes have to be signed", async (t) => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const key = publicKey.export({ format: "der", type: "spki" }).toString("base64");
  const careful = await TestServer.start({ TESSERA_RECIPES_SIGNING_KEYS: key });
  t.teardown(() => careful.stop());
  const send = (recipe: object) => careful.call("POST", "/v1/recipes/import", { recipe });
  const recipe = readingRecipe("signed", "1.0.0", "x");
  const unsigned = await send(recipe);
  t.equal(unsigned.status, 400);
  t.match(unsigned.body.error.message, /signed recipes only/);
  const { digest } = unsigned.body.error.details;
  const value = sign(null, Buffer.from(digest), privateKey).toString("base64");
  const signature = { algorithm: "ed25519", value };
  t.equal((await send({ ...recipe, name: "Other", signature })).status, 400, "of other content");
  const signed = await send({ ...recipe, signature });
  t.equal(signed.status, 201, JSON.stringify(signed.body));
  t.equal(signed.body.data.signed_by, key);
});
