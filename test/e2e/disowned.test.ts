/** Disabling or removing a user, a key or a tenant ends what they run: statements, streams, messages, transactions. */
import t, { type Test } from "tap";
import { trainingRows } from "./automl-rows.js";
import { type Reply, TestServer } from "./server.js";
import { SocketClient } from "./socket-client.js";

t.setTimeout(200_000);

const server = await TestServer.start();
t.teardown(() => server.stop());
const ENDLESS = "SELECT count(*) FROM generate_series(1, 4000000000) AS i WHERE i % 7 = 8";
const ENDLESS_ROWS = "SELECT i, repeat('x', 1000) FROM generate_series(1, 4000000000) AS i";

/** What an identity runs at one time, and what becomes of it. */
interface Running {
  readonly statement: Promise<Reply>;
  /** Rejects when the stream is cut. */
  readonly stream: () => Promise<void>;
  readonly socket: SocketClient;
  readonly transaction: string;
}

async function begin(token: string): Promise<Running> {
  const options = { token };
  const { body } = await server.expect(201, "POST", "/v1/transactions", {}, options);
  const transaction = body.data.id as string;
  await server.expect(200, "POST", `/v1/transactions/${transaction}/execute`, { sql: "SELECT 1" }, options);
  const { ticket } = (await server.expect(200, "POST", "/v1/ws/ticket", undefined, options)).body;
  const socket = await SocketClient.open(server.url, `/ws?token=${ticket}`);
  socket.send({ type: "query", id: "endless", sql: ENDLESS });
  const statement = server.sql(ENDLESS, [], options);
  const response = await fetch(`${server.url}/v1/query/execute`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/x-ndjson", authorization: `Bearer ${token}` },
    body: JSON.stringify({ sql: ENDLESS_ROWS, max_rows: 10_000_000 }),
  });
  const reader = response.body!.getReader();
  await reader.read();
  // Nobody reads on, so it waits.
  const stream = async (): Promise<void> => {
    while (!(await reader.read()).done);
  };
  return { statement, stream, socket, transaction };
}

/** Until no actor works at anything. */
async function idle(): Promise<void> {
  for (;;) {
    const metrics = String((await server.call("GET", "/metrics")).body);
    if (/^tessera_actor_requests_running\{.*\} 0$/m.test(metrics)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function ended(t: Test, { statement, stream, socket }: Running): Promise<void> {
  const { status, body } = await statement;
  t.match([status, body.error.code], [401, "unauthorized"], "the statement");
  t.match(body.error.message, /disabled or removed/);
  await t.rejects(stream(), "the stream");
  t.match(await socket.close(), { code: 1008 }, "the WebSocket");
  await idle();
}

t.test("a user that is disabled", async (t) => {
  const token = await server.tenant("one");
  const all = await begin(token);
  await server.expect(200, "PATCH", "/admin/tenants/one/users/one-user", { is_active: false });
  await ended(t, all);
  await server.expect(200, "PATCH", "/admin/tenants/one/users/one-user", { is_active: true });
  const again = await server.login("one-user", "password of one");
  const gone = await server.call("GET", `/v1/transactions/${all.transaction}`, undefined, { token: again });
  t.match([gone.status, gone.body.error.code], [404, "transaction_not_found"]);
  t.match(gone.body.error.message, /disabled or removed/);
});

t.test("a user that is deleted", async (t) => {
  const all = await begin(await server.tenant("two"));
  await server.expect(204, "DELETE", "/admin/tenants/two/users/two-user");
  await ended(t, all);
});

t.test("an API key that is deleted, and no other credential of its user", async (t) => {
  const token = await server.tenant("three");
  const made = await server.expect(201, "POST", "/v1/api-keys", { name: "k", permission: "FullAccess" }, { token });
  const { raw_key, api_key } = made.body.data;
  const { body } = await server.expect(201, "POST", "/v1/transactions", {}, { token });
  const all = await begin(raw_key);
  await server.expect(204, "DELETE", `/v1/api-keys/${api_key.id}`, undefined, { token });
  await ended(t, all);
  t.equal((await server.call("GET", `/v1/transactions/${body.data.id}`, undefined, { token })).status, 200);
  t.equal((await server.call("GET", `/v1/transactions/${all.transaction}`, undefined, { token })).status, 404);
});

t.test("a tenant that is disabled", async (t) => {
  const all = await begin(await server.tenant("four"));
  await server.expect(200, "PATCH", "/admin/tenants/four", { is_active: false });
  await ended(t, all);
});

t.test("trainings", async (t) => {
  const token = await server.tenant("six");
  await server.rows("CREATE TABLE loans (id int PRIMARY KEY, age int, income float8, region text, good text)", [], {
    token,
  });
  await server.rows(
    "INSERT INTO loans SELECT id, age, income, region, good FROM json_to_recordset($1::json) AS r(id int, age int, income float8, region text, good text)",
    [JSON.stringify(trainingRows(600))],
    { token },
  );
  const spec = { table: "loans", target: "good", features: ["age", "income", "region"], seed: 5 };
  const long = { ...spec, algorithms: ["neural_network"], max_trials: 200, time_budget_secs: 900 };
  const train = async (options: { token: string }): Promise<string> =>
    (await server.expect(202, "POST", "/v1/automl/train", long, options)).body.data.job_id;
  const jobOf = async (id: string, options: { token: string }) =>
    (await server.expect(200, "GET", `/v1/automl/jobs/${id}`, undefined, options)).body.data;
  const over = async (id: string, options: { token: string }) => {
    for (;;) {
      const job = await jobOf(id, options);
      if (job.status !== "running" && job.status !== "pending") return job;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const made = await server.expect(201, "POST", "/v1/api-keys", { name: "k", permission: "FullAccess" }, { token });
  const { raw_key, api_key } = made.body.data;
  const [ofKey, ofUser, waiting] = [await train({ token: raw_key }), await train({ token }), await train({ token })];
  await server.expect(204, "DELETE", `/v1/api-keys/${api_key.id}`, undefined, { token });
  t.match(await over(ofKey, { token }), { status: "failed", error: { code: "unauthorized" } }, "the key's");
  t.match((await jobOf(ofUser, { token })).status, /running|pending/, "and not the user's");
  await server.expect(200, "PATCH", "/admin/tenants/six/users/six-user", { is_active: false });
  await server.expect(200, "PATCH", "/admin/tenants/six/users/six-user", { is_active: true });
  const again = { token: await server.login("six-user", "password of six") };
  t.match(await over(ofUser, again), { status: "failed", error: { code: "unauthorized" } }, "one that ran");
  t.match(await over(waiting, again), { status: "failed", error: { code: "unauthorized" } }, "one that waited");
});

t.test("a change that ends nothing", async (t) => {
  const token = await server.tenant("five");
  const statement = server.sql("SELECT count(*) FROM generate_series(1, 1500000) AS i WHERE i % 7 = 8", [], { token });
  await server.expect(200, "PATCH", "/admin/tenants/five", { name: "Five" });
  t.equal((await statement).status, 200);
});
