/** The recipes that come with the server, imported, certified and executed; and recipes that have to be signed. */
import { generateKeyPairSync, sign } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import t from "tap";
import { parse } from "yaml";
import { readingRecipe } from "../security/authorization-cases.js";
import { TestServer } from "./server.js";

const FOLDER = new URL("../../../recipes/", import.meta.url);
const YAML = { headers: { "content-type": "application/yaml" } };

t.setTimeout(300_000);

const server = await TestServer.shared();
t.teardown(() => server.stop());

t.test("each recipe that comes with the server is imported, certified and executed", async (t) => {
  const execute = (id: string, parameters: object, token: string) =>
    server.call("POST", `/v1/recipes/${id}/execute`, { parameters }, { token });
  const list = await server.expect(200, "GET", "/v1/recipes");
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".yaml"));
  t.ok(names.length >= 7);
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
      // Of training another test.
      if (id === "customer-churn") continue;
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

t.test("churn: a training begins with the commit, and its model scores", async (t): Promise<void> => {
  const execute = (id: string, body: object) => server.call("POST", `/v1/recipes/${id}/execute`, body);
  const jobs = async () => (await server.expect(200, "GET", "/v1/automl/jobs")).body.data.jobs;
  const untrained = await execute("customer-churn", { parameters: { action: "score" } });
  t.match(untrained.body.error, { code: "model_not_found", details: { step: "score" } });
  const dry = await execute("customer-churn", { dry_run: true });
  t.match(dry.body.data.results, [{}, { step: "train", rows: [[null, "recipe_churn"]] }]);
  const failing = {
    ...readingRecipe("fails-late", "1.0.0", "x"),
    schema: ["CREATE TABLE seen (x int, y int)"],
    workflow: [
      { name: "train", train: { model: "never", query: "SELECT x, y FROM seen", target: "y" } },
      { name: "fail", when: "$fail", sql: "SELECT 1 / 0" },
    ],
    parameters: { fail: { type: "boolean", default: false } },
  };
  const imported = await server.call("POST", "/v1/recipes/import", failing);
  t.equal(imported.status, 201, JSON.stringify(imported.body));
  t.equal((await execute("fails-late", { parameters: { fail: true } })).status, 400);
  t.same(await jobs(), [], "neither a dry run nor a failure trains");

  const begun = await execute("customer-churn", {});
  if (begun.status === 501) {
    t.pass("a model is trained", { skip: "this server has no threads for training" });
    return;
  }
  t.equal(begun.status, 200, JSON.stringify(begun.body));
  const [[id, model]] = begun.body.data.results[1].rows;
  t.equal(model, "recipe_churn");
  for (let job = { status: "pending" }; job.status !== "completed"; ) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    job = (await server.expect(200, "GET", `/v1/automl/jobs/${id}`)).body.data;
    if (!["pending", "running", "completed"].includes(job.status)) throw new Error(JSON.stringify(job));
  }
  const scored = await execute("customer-churn", { parameters: { action: "score" } });
  t.equal(scored.status, 200, JSON.stringify(scored.body));
  t.match(scored.body.data.results.slice(2), [{ step: "score" }, { rows_affected: 20 }, { step: "at_risk" }]);
  const risky = scored.body.data.results[4].rows.map(([customer]: [string]) => customer);
  const rule = await server.rows(
    `SELECT id FROM recipe_customers WHERE churned IS NULL AND support_calls * 3 - logins_30d - months / 12 > 4`,
  );
  const right = rule.filter(([customer]) => risky.includes(customer)).length;
  t.ok(
    right >= rule.length - 1 && risky.length <= rule.length + 1,
    `${right} of ${rule.length}, ${risky.length} listed`,
  );
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
