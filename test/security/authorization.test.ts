/**
 * Every endpoint × who asks × whose objects, on a running server; and docs/reference/authorization.md says the same.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import t from "tap";
import type { Endpoint } from "../../src/protocol/endpoint.js";
import { ENDPOINTS, MESSAGES } from "../../src/protocol/endpoints.js";
import { TestServer } from "../e2e/server.js";
import { SocketClient } from "../e2e/socket-client.js";
import type { Case, Sent, Step, World } from "./authorization-case.js";
import { CASES, caseOf, OWNED, readingRecipe } from "./authorization-cases.js";
import { authorizationPage, PRINCIPALS, type PrincipalName, verdict } from "./authorization-table.js";

/** Stands in all that the other tenant has. */
const MARKER = "xyzzy-of-beta";
const ASK_FOR_OTHERS: readonly PrincipalName[] = ["reader", "user", "superAdmin", "system"];
/** Ask for what another user of their tenant made. */
const ASK_FOR_PEERS: readonly PrincipalName[] = ["reader", "key", "user", "superReader"];
const ALL: readonly Endpoint[] = [...ENDPOINTS, ...MESSAGES];

t.test("every endpoint has a case, and every case an endpoint", (t) => {
  const names = new Set(ALL.map(({ name }) => name));
  t.same(
    ALL.flatMap((endpoint) => (caseOf(endpoint) === undefined ? endpoint.name : [])),
    [],
    "endpoints that need a case in authorization-cases.ts",
  );
  t.same(
    Object.keys(CASES).filter((name) => !names.has(name)),
    [],
    "cases of endpoints that are gone",
  );
  t.end();
});

t.test("docs/reference/authorization.md is what `make docs` writes", (t) => {
  let root = import.meta.dirname;
  while (!existsSync(join(root, "package.json"))) root = dirname(root);
  t.equal(readFileSync(join(root, "docs", "reference", "authorization.md"), "utf8"), authorizationPage());
  t.end();
});

t.test("the matrix", { timeout: 300_000 }, async (t) => {
  const server = await TestServer.start({ TESSERA_ACTORS: "1", TESSERA_AI_PULL_SOURCES: "./nowhere" });
  t.teardown(() => server.stop());
  const matrix = await Matrix.prepare(server);
  const before = await matrix.digest();
  for (const endpoint of ALL) {
    await matrix.check(endpoint);
    t.same(matrix.takeProblems(), [], endpoint.name);
  }
  t.ok(matrix.asked > ALL.length * PRINCIPALS.length, `${matrix.asked} requests`);
  t.equal(await matrix.digest(), before, "the other tenant's data is what it was");
  t.same(await matrix.ofPeer(), ["active", 2, "pending or over"], "what another user made is what it was");
  t.equal((await server.call("GET", "/health")).status, 200);
});

interface Principal {
  readonly token: string | null;
  readonly world: World;
  /** Makes what a case needs first. */
  readonly maker: string;
}

interface Outcome {
  readonly status: number;
  readonly text: string;
}

class Matrix {
  asked = 0;
  private count = 1000;
  private problems: string[] = [];

  private constructor(
    private readonly server: TestServer,
    private readonly principals: Readonly<Record<PrincipalName, Principal>>,
    private readonly beta: { readonly world: World; readonly token: string },
    /** Another user of the principals' tenant, with what it made. */
    private readonly peer: { readonly world: World; readonly token: string },
  ) {}

  static async prepare(server: TestServer): Promise<Matrix> {
    const betaToken = await server.tenant("beta", ["super_admin"]);
    const beta = { token: betaToken, world: await makeWorld(server, "beta", betaToken, MARKER, 4000) };
    const user = await server.tenant("alpha");
    const signedIn = async (tenant: string, username: string, roles: readonly string[]): Promise<string> => {
      const password = `password of ${username}`;
      await server.expect(201, "POST", `/admin/tenants/${tenant}/users`, { username, password, roles });
      return server.login(username, password);
    };
    const admin = await signedIn("alpha", "alpha-admin", ["admin"]);
    const superAdmin = await signedIn("alpha", "alpha-super", ["super_admin"]);
    const key = async (token: string, permission: string): Promise<string> =>
      (await server.expect(201, "POST", "/v1/api-keys", { name: "k", permission }, { token })).body.raw_key;
    const alpha = await makeWorld(server, "alpha", superAdmin, "of alpha", 2);
    const system = await makeWorld(server, "system", server.token, "of system", 2);
    const own = async (token: string, world: World, maker: string): Promise<Principal> => {
      return { token, world: { ...world, ...(await madeBy(server, token, world)) }, maker };
    };
    const ofAlpha = (token: string): Promise<Principal> => own(token, alpha, superAdmin);
    const ofSystem = (token: string): Promise<Principal> => own(token, system, server.token);
    const peer = await signedIn("alpha", "alpha-peer", ["user"]);
    return new Matrix(
      server,
      {
        nobody: { token: null, world: alpha, maker: superAdmin },
        reader: await ofAlpha(await key(user, "ReadOnly")),
        key: await ofAlpha(await key(user, "FullAccess")),
        user: await ofAlpha(user),
        admin: await ofAlpha(admin),
        superReader: await ofAlpha(await key(superAdmin, "ReadOnly")),
        superAdmin: await ofAlpha(superAdmin),
        systemReader: await ofSystem(await key(server.token, "ReadOnly")),
        system: await ofSystem(server.token),
      },
      beta,
      { token: peer, world: await peersWorld(server, peer, alpha) },
    );
  }

  async check(endpoint: Endpoint): Promise<void> {
    const one = caseOf(endpoint);
    if (one === undefined) return;
    const [admitted, refused] = [true, false].map((yes) =>
      PRINCIPALS.filter(({ name }) => (verdict(endpoint, name) === "admitted") === yes),
    );
    await Promise.all(refused!.map(({ name }) => this.checkOwn(endpoint, one, name)));
    for (const { name } of admitted!) await this.checkOwn(endpoint, one, name);
    const ofPeer = OWNED[endpoint.name];
    if (ofPeer !== undefined) {
      const askers = admitted!.filter(({ name }) => ASK_FOR_PEERS.includes(name));
      for (const { name } of askers) await this.checkOthers(endpoint, one, ofPeer, name, this.peer.world);
    }
    const { others } = one;
    if (others === undefined) return;
    // Whoever is refused is so before anybody looks at the ids.
    const askers = admitted!.filter(({ name }) => ASK_FOR_OTHERS.includes(name));
    await Promise.all(
      askers
        .filter(({ name }) => name !== "system" || !others.includes("but for system"))
        .map(({ name }) => this.checkOthers(endpoint, one, others, name, this.beta.world)),
    );
  }

  private async checkOwn(endpoint: Endpoint, one: Case, who: PrincipalName): Promise<void> {
    const { world, token, maker } = this.principals[who];
    const n = ++this.count;
    const expected = verdict(endpoint, who);
    if (expected === "admitted") for (const step of one.before?.(world, n) ?? []) await this.step(step, maker);
    const { status, text } = await this.ask(endpoint, one.send(world, n), token);
    const fits =
      expected !== "admitted"
        ? String(status) === expected
        : (one.statuses?.includes(status) ?? (status >= 200 && status < 300));
    if (!fits) this.problems.push(`${who}, ${expected}: ${status} ${text.slice(0, 300)}`);
    if (text.includes(MARKER)) this.problems.push(`${who} sees the other tenant: ${text.slice(0, 300)}`);
  }

  private async checkOthers(
    endpoint: Endpoint,
    one: Case,
    others: string,
    who: PrincipalName,
    world: World,
  ): Promise<void> {
    const { status, text } = await this.ask(endpoint, one.send(world, ++this.count), this.principals[who].token);
    const fits = others.match(/\d{3}/g)!.includes(String(status));
    if (!fits) this.problems.push(`${who}, another's objects: ${status} ${text.slice(0, 300)}`);
    if (text.includes(MARKER)) this.problems.push(`${who} sees another's objects: ${text.slice(0, 300)}`);
  }

  takeProblems(): readonly string[] {
    const taken = this.problems;
    this.problems = [];
    return taken;
  }

  private step([method, path, body]: Step, token: string): Promise<unknown> {
    return this.server.call(method, path, body, { token });
  }

  private async ask(endpoint: Endpoint, sent: Sent, token: string | null): Promise<Outcome> {
    this.asked++;
    if (endpoint.method === "MESSAGE") return this.say(endpoint, sent, token);
    const path = sent.path ?? endpoint.path;
    const stop = new AbortController();
    const response = await fetch(this.server.url + path, {
      method: endpoint.method,
      redirect: "manual",
      signal: stop.signal,
      headers: {
        ...(sent.body === undefined ? {} : { "content-type": sent.type ?? "application/json" }),
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(endpoint.live ? { accept: "text/event-stream" } : {}),
      },
      ...(sent.body === undefined
        ? {}
        : { body: typeof sent.body === "string" ? sent.body : JSON.stringify(sent.body) }),
    });
    if (endpoint.live && response.ok) {
      stop.abort();
      return { status: response.status, text: "" };
    }
    return { status: response.status, text: await response.text() };
  }

  /** An error's status is found by its code, as HTTP would have it. */
  private async say(endpoint: Endpoint, { body }: Sent, token: string | null): Promise<Outcome> {
    const { url } = this.server;
    const mcp = endpoint.path === "/mcp";
    const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
    const client = await SocketClient.open(url, endpoint.path, headers);
    try {
      client.send(mcp ? (body as object) : { id: "m", ...(body as object) });
      const message = await client.next();
      const text = JSON.stringify(message);
      if (message.type !== "error") return { status: 200, text };
      const { ERRORS } = await import("../../src/protocol/errors.js");
      return { status: ERRORS[message.code as keyof typeof ERRORS]?.status ?? 0, text };
    } catch (error) {
      // A credential that is missing or wrong is told by the close code.
      return { status: client.closed?.code === 1008 ? 401 : 0, text: String(error) };
    } finally {
      client.destroy();
    }
  }

  /** The transaction of the other user, what its prepared statement gives, and its training. */
  async ofPeer(): Promise<readonly unknown[]> {
    const { token, world } = this.peer;
    const get = async (path: string) => (await this.server.expect(200, "GET", path, undefined, { token })).body.data;
    const exec = { statement_id: world.statement };
    const prepared = await this.server.expect(200, "POST", "/v1/query/exec", exec, { token });
    const training = (await get(`/v1/automl/jobs/${world.job}`)).status;
    const transaction = (await get(`/v1/transactions/${world.transaction}`)).status;
    await get(`/v1/ai/sessions/${world.session}`);
    await this.server.expect(200, "GET", `/v1/responses/${world.response}`, undefined, { token });
    await get(`/v1/evaluations/${world.evaluation}`);
    await get(`/v1/recipes/${world.recipe}/executions/${world.execution}`);
    return [transaction, prepared.body.data.columns.length, training === "cancelled" ? training : "pending or over"];
  }

  /** All that the other tenant has. */
  async digest(): Promise<string> {
    const { token, world } = this.beta;
    const paths = [
      "/v1/schema/tables",
      `/v1/data/export?table=${world.table}`,
      "/v1/collections",
      `/v1/collections/${world.collection}/documents`,
      "/v1/vectors/collections",
      `/v1/vectors/collections/${world.vectors}/vectors/${world.vector}`,
      `/v1/graph/nodes/${world.node}`,
      `/v1/graph/edges/${world.edge}`,
      "/v1/graph/graphs",
      "/v1/graph/indexes",
      `/v1/ai/sessions/${world.session}`,
      `/v1/responses/${world.response}`,
      `/v1/evaluations/${world.evaluation}`,
      `/v1/ai/memory/${world.namespace}`,
      `/v1/recipes/${world.recipe}/versions`,
      `/v1/recipes/${world.recipe}/executions`,
      "/v1/api-keys",
      "/admin/tenants/beta/users",
    ];
    const seen: string[] = [];
    for (const path of paths) {
      const { body } = await this.server.expect(200, "GET", path, undefined, { token });
      seen.push(typeof body === "string" ? body : JSON.stringify(body.data ?? body));
    }
    return seen.join("\n");
  }
}

/** What a caller has of its own beside what is the tenant's. */
async function madeBy(server: TestServer, token: string, { table }: World) {
  const made = async (path: string, body: unknown) =>
    (await server.expect(201, "POST", path, body, { token })).body.data;
  return {
    transaction: (await made("/v1/transactions", { timeout_secs: 600 })).id as string,
    statement: (await made("/v1/query/prepare", { sql: `SELECT * FROM ${table}` })).statement_id as string,
  };
}

async function peersWorld(server: TestServer, token: string, alpha: World): Promise<World> {
  const post = async (path: string, body: unknown) => (await server.call("POST", path, body, { token })).body;
  await server.rows("CREATE TABLE trained_on (x float8, y float8)", [], { token });
  await server.rows("INSERT INTO trained_on SELECT i, 2 * i FROM generate_series(1, 60) i", [], { token });
  const training = { table: "trained_on", target: "y", max_trials: 1, algorithms: ["linear"] };
  return {
    ...{ ...alpha, isAnothers: true, ...(await madeBy(server, token, alpha)) },
    session: (await post("/v1/ai/sessions", { title: "a peer's" })).data.id,
    response: (await post("/v1/responses", { model: `collection:${alpha.collection}`, input: "a peer's" })).id,
    apiKey: (await post("/v1/api-keys", { name: "a peer's" })).data.api_key.id,
    job: (await post("/v1/automl/train", training)).data.job_id,
    evaluation: (await post("/v1/evaluations/retrieval", evaluationOf(alpha.collection, "a peer's"))).data.id,
    execution: (await post(`/v1/recipes/${alpha.recipe}/execute`, {})).data.execution_id,
  };
}

const evaluationOf = (collection: string, query: string) => ({
  ...{ name: query, collection, pairs: [{ query, relevant: ["any"] }] },
});

async function makeWorld(
  server: TestServer,
  tenant: string,
  token: string,
  secret: string,
  nodes: number,
): Promise<World> {
  const options = { token };
  const made = async (path: string, body: unknown) => (await server.expect(201, "POST", path, body, options)).body;
  await server.rows(`CREATE TABLE things_${tenant} (id integer PRIMARY KEY, secret text)`, [], options);
  await server.rows(`INSERT INTO things_${tenant} VALUES (1, $1)`, [secret], options);
  await made("/v1/collections", { name: `docs_${tenant}` });
  await made(`/v1/collections/docs_${tenant}/documents`, { id: `doc_${tenant}`, secret });
  await made("/v1/vectors/collections", { name: `vecs_${tenant}`, dimensions: 2 });
  const vector = { id: `vec_${tenant}`, vector: [1, 2], metadata: { secret } };
  await made(`/v1/vectors/collections/vecs_${tenant}/vectors`, vector);
  const cypher = `UNWIND range(1, ${nodes}) AS i CREATE (:Of_${tenant} {secret: $secret})-[:OF_Of_${tenant}]->(:Of_${tenant} {secret: $secret})`;
  await server.expect(200, "POST", "/v1/graph/match", { cypher, parameters: { secret } }, options);
  const find = async (what: string) =>
    (await server.expect(200, "POST", "/v1/graph/match", { cypher: what }, options)).body.data.rows;
  const [[node, edge, otherNode]] = await find(
    `MATCH (a:Of_${tenant})-[r]->(b) RETURN id(a), id(r), id(b) ORDER BY id(a) DESC LIMIT 1`,
  );
  await made("/v1/graph/graphs", { name: `graph_${tenant}` });
  await made("/v1/graph/indexes", { name: `index_${tenant}`, label: `Of_${tenant}`, property: "secret" });
  const session = (await made("/v1/ai/sessions", { title: secret })).data.id;
  const asked = { model: `collection:docs_${tenant}`, input: secret };
  const response = (await server.expect(200, "POST", "/v1/responses", asked, options)).body.id;
  const memory = (await made(`/v1/ai/memory/of_${tenant}`, { content: secret })).data.id;
  const apiKey = (await made("/v1/api-keys", { name: secret })).data.api_key.id;
  const transaction = (await made("/v1/transactions", { timeout_secs: 600 })).data.id;
  const statement = (await made("/v1/query/prepare", { sql: `SELECT * FROM things_${tenant}` })).data.statement_id;
  const evaluated = evaluationOf(`docs_${tenant}`, secret);
  const evaluation = (await server.expect(200, "POST", "/v1/evaluations/retrieval", evaluated, options)).body.data.id;
  const recipe = `recipe-${tenant}`;
  await made("/v1/recipes/import", readingRecipe(recipe, "1.0.0", secret));
  const executed = await server.expect(200, "POST", `/v1/recipes/${recipe}/execute`, {}, options);
  const execution = executed.body.data.execution_id;
  const user = `spare-${tenant}`;
  await server.expect(201, "POST", `/admin/tenants/${tenant}/users`, { username: user, password: "a spare password" });
  return {
    tenant,
    isAnothers: tenant === "beta",
    job: "none",
    user,
    table: `things_${tenant}`,
    collection: `docs_${tenant}`,
    document: `doc_${tenant}`,
    vectors: `vecs_${tenant}`,
    vector: vector.id,
    node,
    otherNode,
    edge,
    label: `Of_${tenant}`,
    graph: `graph_${tenant}`,
    index: `index_${tenant}`,
    session,
    response,
    namespace: `of_${tenant}`,
    memory,
    apiKey,
    transaction,
    statement,
    evaluation,
    recipe,
    execution,
  };
}
