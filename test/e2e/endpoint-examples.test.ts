/**
 * The examples of the OpenAPI document, sent one after the other as a newcomer would who goes through the page of the
 * API.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TOTP } from "otpauth";
import t from "tap";
import { Check, Errors } from "typebox/value";
import { ENDPOINTS } from "../../src/protocol/endpoints.js";
import { until } from "./filesystem-folder.js";
import { type Reply, TestServer } from "./server.js";
import { STORY } from "./story.js";

const folder = mkdtempSync(join(tmpdir(), "tessera-manuals-"));
writeFileSync(join(folder, "boats.md"), "# Boats\n\nA boat floats.\n");
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const server = await TestServer.start({
  TESSERA_FILES_ROOTS: folder,
  TESSERA_AUTH_REGISTRATION_ENABLED: "true",
  TESSERA_AUTH_REGISTRATION_TENANT: "acme",
  TESSERA_NLI_ENABLED: "true",
  TESSERA_ACTORS: "2",
});
t.teardown(() => server.stop());
t.setTimeout(240_000);

/** What the server chose, in place of what an example says: ids, codes, tokens. */
interface Change {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly token?: string;
}

const answers = new Map<string, Reply["body"]>();
const dataOf = (name: string) => answers.get(name)?.data ?? answers.get(name);
const dataFrom = async (path: string, body?: object) => {
  const reply = await server.call("POST", path, body);
  return reply.body.data ?? reply.body;
};

const STEP_MS = 30_000;
const OLD_PASSWORD = "correct horse battery";
const NEW_PASSWORD = "another horse battery";
const ofBen = async () => ({ token: await server.login("ben", NEW_PASSWORD) });
/** Each code is good once. */
let codes = 0;
const code = () => {
  const { secret } = dataOf("auth.mfa.enroll");
  if (codes === 2) return dataOf("auth.mfa.enroll").recovery_codes[0];
  return new TOTP({ secret }).generate({ timestamp: Date.now() + codes++ * STEP_MS });
};
let benToken = "";

const inTransaction = async () => ({
  params: { id: dataOf("transactions.begin").id, name: "before_discount" },
});
const newTransaction = async () => ({ params: { id: (await dataFrom("/v1/transactions")).id } });

/** A backup is made in the background. */
async function finished(made: string, path: string): Promise<string> {
  const { id } = dataOf(made);
  for (;;) {
    const { status } = (await server.expect(200, "GET", `${path}/${id}`)).body.data;
    if (status === "completed") return id;
    if (status === "failed") throw new Error(`the backup of ${made} failed`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
const installation = () => finished("admin.backups.create", "/admin/backups");
const schedule = () => ({ params: { id: dataOf("backups.schedules.create").id } });

const CHANGES: Readonly<Record<string, () => Change | Promise<Change>>> = {
  "admin.users.reset": () => ({ params: { tenant: "acme", user: dataOf("admin.users.create").id } }),
  "admin.users.update": () => ({ params: { tenant: "acme", user: dataOf("admin.users.create").id } }),
  "history.undo": async () => {
    await dataFrom("/v1/query/execute", { sql: "CREATE TABLE orders (id int PRIMARY KEY)" });
    const as_of = (await server.call("GET", "/v1/history")).body.data.newest.sequence;
    return { body: { table: "orders", as_of, where: "id < 100", dry_run: true } };
  },
  "auth.password": async () => ({ token: await server.login("ben", OLD_PASSWORD) }),
  "auth.mfa.enroll": async () => {
    benToken = (await ofBen()).token;
    return { token: benToken };
  },
  "auth.mfa.confirm": () => ({ token: benToken, body: { code: code() } }),
  "auth.mfa.verify": async () => {
    const { mfa_token } = await dataFrom("/v1/auth/login", { username: "ben", password: NEW_PASSWORD });
    return { body: { mfa_token, code: code() } };
  },
  "auth.mfa.disable": () => ({
    token: answers.get("auth.mfa.verify").access_token,
    body: { code: code(), password: NEW_PASSWORD },
  }),
  "transactions.execute": inTransaction,
  "transactions.savepoint": inTransaction,
  "transactions.savepoint.rollback": inTransaction,
  "transactions.commit": inTransaction,
  "transactions.rollback": newTransaction,
  "files.create": () => ({ body: { name: "manuals", watch_dir: folder } }),
  "files.reprocess": async () => {
    // The folder is looked through in the background.
    await until(async () => {
      const { data } = (await server.expect(200, "GET", "/v1/filesystem-collections/manuals/documents")).body;
      return data.total > 0;
    });
    return {};
  },
  // They are not encrypted.
  "backups.verify": async () => ({ params: { id: await finished("backups.create", "/v1/backups") }, body: {} }),
  "admin.backups.verify": async () => ({ params: { id: await installation() }, body: {} }),
  "admin.backups.restore": async () => ({ params: { id: await installation() } }),
  "admin.tenants.restore": async () => ({ body: { backup: await installation(), replace: true } }),
  "automl.stop": async () => ({
    params: { id: (await server.call("GET", "/v1/automl/jobs")).body.data.jobs[0].job_id },
  }),
  "backups.schedules.update": schedule,
  "backups.schedules.run": schedule,
};

/** Answered otherwise, and why. */
const OTHERWISE: Readonly<Record<string, readonly [status: number, why: string]>> = {
  "auth.oidc.start": [404, "no provider is configured; test/e2e/oidc.test.ts has one"],
  "auth.oidc.finish": [401, "no sign-in was begun"],
  "auth.oidc.logout": [400, "it is no token"],
  "multimodal.transcribe": [503, "no model that writes what is said comes with the server"],
};

const isEnveloped = ({ body }: Reply): boolean => typeof body === "object" && body !== null && "data" in body;

/** Bodies that no text can show, or whose text depends on its header (the parts of a form). */
const BINARY = /^(?:application\/(?:octet-stream|vnd\.apache\.)|multipart\/)/;

t.test("every endpoint with a body has an example", async (t) => {
  for (const { name, body, jsonRpc, streamedBody, method, example } of ENDPOINTS) {
    if (method === "MESSAGE" || BINARY.test(streamedBody?.[0] ?? "")) continue;
    if (body === undefined && jsonRpc === undefined && streamedBody === undefined) continue;
    const { properties = {}, additionalProperties }: { properties?: object; additionalProperties?: unknown } =
      body ?? {};
    const hasFields = Object.keys(properties).length > 0 || additionalProperties !== false;
    const sent = example?.body ?? {};
    t.ok(example, name);
    t.equal(Object.keys(sent).length > 0, hasFields, `${name}: its fields are shown, where there are any`);
  }
});

t.test("the document has them", async (t) => {
  const { paths } = (await server.expect(200, "GET", "/v1/openapi.json")).body;
  for (const { path, method, example } of STORY) {
    const { parameters = [], requestBody } = paths[path][method.toLowerCase()];
    t.equal(requestBody !== undefined, example.body !== undefined, `${method} ${path}`);
    for (const { example: shown } of Object.values<{ example?: unknown }>(requestBody?.content ?? {})) {
      if (shown !== undefined) t.same(shown, example.body);
    }
    const ofQuery = parameters.filter((one: { in: string; example?: string }) => one.in === "query" && one.example);
    t.same(Object.fromEntries(ofQuery.map((one: { name: string; example: string }) => [one.name, one.example])), {
      ...example.query,
    });
  }
});

t.test("the examples are answered as the document says", async (t) => {
  for (const { name, method, path, example, streamedBody, response, form } of STORY) {
    const change = (await CHANGES[name]?.()) ?? {};
    const params: Readonly<Record<string, string>> = { ...example.params, ...change.params };
    const address = path.replaceAll(/\{(\w+)\}/g, (_, variable: string) => encodeURIComponent(params[variable]!));
    const query = example.query === undefined ? "" : `?${new URLSearchParams(example.query)}`;
    const options = {
      ...(change.token === undefined ? {} : { token: change.token }),
      ...(streamedBody === undefined ? {} : { headers: { "content-type": streamedBody[0]! } }),
    };
    const reply = await server.call(method, address + query, change.body ?? example.body, options);
    answers.set(name, reply.body);
    const [status, why] = OTHERWISE[name] ?? [null, ""];
    const isRight = status === null ? reply.status >= 200 && reply.status < 300 : reply.status === status;
    t.ok(isRight, `${name}: ${reply.status} ${isRight ? why : JSON.stringify(reply.body)}`);
    if (response === undefined || status !== null || (form === undefined && !isEnveloped(reply))) continue;
    const data = form === undefined ? reply.body.data : reply.body;
    t.ok(Check(response, data), `${name}: ${JSON.stringify(Errors(response, data).slice(0, 3))}`);
  }
});
