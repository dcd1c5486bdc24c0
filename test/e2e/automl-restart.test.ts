/**
 * Trainings and webhooks that a crash cut off: finished trials are used again, deliveries are made up for, all can be
 * stopped.
 */
import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import t from "tap";
import { sized } from "../lengths.js";
import { trainingRows } from "./automl-rows.js";
import { TestServer } from "./server.js";

interface Delivery {
  readonly path: string;
  readonly signature: string;
  readonly id: string;
  readonly body: string;
}

/** Refuses deliveries until told otherwise. */
class Receiver {
  readonly got: Delivery[] = [];
  accepts = false;
  private readonly server = createServer((request, response) => this.receive(request, response));

  async listen(): Promise<string> {
    this.server.listen(0, "127.0.0.1");
    await new Promise((resolve) => this.server.once("listening", resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private receive(request: IncomingMessage, response: ServerResponse): void {
    let body = "";
    request.on("data", (piece: Buffer) => {
      body += piece.toString();
    });
    request.on("end", () => {
      const { "x-tessera-signature": signature, "x-tessera-delivery": id } = request.headers;
      this.got.push({ path: request.url!, signature: String(signature), id: String(id), body });
      response.writeHead(this.accepts ? 204 : 503).end();
    });
  }

  of(path: string): Delivery[] {
    return this.got.filter((delivery) => delivery.path === path);
  }
}

const server = await TestServer.start({
  TESSERA_AUTOML_WEBHOOK_PRIVATE_ALLOWED: "true",
  TESSERA_AUTOML_WEBHOOK_SCHEMES: "https,http",
  TESSERA_AUTOML_THREADS: "2",
  TESSERA_ACTORS: "1",
});
t.teardown(() => server.stop());
const receiver = new Receiver();
const hooks = await receiver.listen();
t.teardown(() => receiver.close());
await server.sql("CREATE TABLE loans (id int PRIMARY KEY, age int, income float8, region text, note text, good text)");
await server.sql(
  `INSERT INTO loans SELECT * FROM json_to_recordset($1::json) AS r(id int, age int, income float8, region text, note text, good text)`,
  [JSON.stringify(trainingRows(sized(600, 6000)))],
);

async function until<T>(what: string, look: () => Promise<T | null>): Promise<T> {
  for (let tries = 0; tries < 4000; tries++) {
    const found = await look();
    if (found !== null) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${what} has not come`);
}

const train = async (body: object): Promise<string> => {
  const common = { table: "loans", target: "good", features: ["age", "income", "region"], seed: 5 };
  return (await server.expect(202, "POST", "/v1/automl/train", { ...common, ...body })).body.data.job_id;
};
const jobOf = async (id: string) => (await server.expect(200, "GET", `/v1/automl/jobs/${id}`)).body.data;
const hasStatus = (id: string, ...wanted: string[]) =>
  until(`${wanted} of ${id}`, async () => {
    const job = await jobOf(id);
    return wanted.includes(job.status) ? job : null;
  });

/** A duration that no trial has: it tells that a record comes from a checkpoint of before. */
const MARK = 987_654_321;

/** Marks what has been finished so far, in one statement; answers which trials, at which stage. */
async function markCheckpoints(id: string): Promise<{ stage: string; trial: number }[]> {
  const table = '"_automl_checkpoints"';
  const rows = await server.rows(`SELECT seq, encode(bytes, 'base64') FROM ${table} WHERE job_id = $1`, [id]);
  const heads: { stage: string; trial: number }[] = [];
  const marked = rows.map(([seq, text]) => {
    const bytes = Buffer.from(text as string, "base64");
    const end = bytes.indexOf(10);
    const head = JSON.parse(bytes.subarray(0, end).toString());
    heads.push(head);
    const changed = Buffer.concat([Buffer.from(JSON.stringify({ ...head, durationMs: MARK })), bytes.subarray(end)]);
    return { seq, bytes: changed.toString("base64") };
  });
  await server.rows(
    `UPDATE ${table} c SET bytes = decode(m.bytes, 'base64')
       FROM json_to_recordset($2::json) AS m(seq bigint, bytes text) WHERE c.job_id = $1 AND c.seq = m.seq`,
    [id, JSON.stringify(marked)],
  );
  return heads;
}

/** Trains until 15 trials are done and marked. A training that comes to its end meanwhile is followed by another. */
async function markedTraining(): Promise<{ name: string; longId: string; marked: { stage: string; trial: number }[] }> {
  for (let attempt = 0; attempt < 5; attempt++) {
    const name = `long${attempt}`;
    const body = { max_trials: 40, folds: 5, algorithms: ["xgboost"], name, callback_url: `${hooks}/${name}` };
    const longId = await train(body);
    // More than can be validated, so that some records stay those of the first look.
    const finished = 'SELECT count(*) FROM "_automl_checkpoints" WHERE job_id = $1';
    await until("some finished trials", async () =>
      (await jobOf(longId)).status === "completed" || Number((await server.rows(finished, [longId]))[0]![0]) >= 15
        ? true
        : null,
    );
    const marked = await markCheckpoints(longId);
    if ((await jobOf(longId)).status === "running") return { name, longId, marked };
  }
  throw new Error("every training came to its end before it was marked");
}

t.test("kill -9 while two trainings run and a webhook is due", async (t) => {
  const quick = { max_trials: 1, algorithms: ["linear"], name: "quick", callback_url: `${hooks}/quick` };
  const quickId = await train(quick);
  await hasStatus(quickId, "completed");
  await until("the first delivery", async () => receiver.of("/quick")[0] ?? null);

  const endlessId = await train({
    max_trials: 200,
    algorithms: ["neural_network"],
    name: "endless",
    time_budget_secs: 900,
  });
  await hasStatus(endlessId, "running");
  const { name, longId, marked } = await markedTraining();
  t.match(await jobOf(endlessId), { status: "running" });
  await server.kill();
  const refused = receiver.of("/quick").length;
  receiver.accepts = true;
  await server.boot();

  const delivered = await until("the delivery that was due", async () => receiver.of("/quick")[refused] ?? null);
  t.equal(delivered.id, quickId);
  t.match(JSON.parse(delivered.body), { event: "automl.completed", data: { id: quickId, status: "completed" } });
  const { secret } = (await server.call("GET", "/v1/automl/webhook-secret")).body.data;
  const [, seconds, hex] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(delivered.signature)!;
  t.equal(hex, createHmac("sha256", secret).update(`${seconds}.${delivered.body}`).digest("hex"), "it is signed");

  await hasStatus(endlessId, "running");
  t.match((await server.call("POST", `/v1/automl/jobs/${endlessId}/stop`)).body.data, { status: "cancelled" });
  t.match(await jobOf(endlessId), { status: "cancelled", model_id: null });

  const job = await hasStatus(longId, "completed", "failed");
  t.match(job, { status: "completed", model_id: /^model_/ });
  const { body } = await server.call("GET", `/v1/automl/models/${name}`);
  const records: { trial: number; status: string; durationMs: number }[] = body.data.trials;
  t.equal(records.length, 40);
  const reused = records.filter(({ durationMs }) => durationMs === MARK).map(({ trial }) => trial);
  // A trial that was seen before and validated after the restart has the duration of its validation.
  const expected = marked.filter(({ stage, trial }) => stage === "full" || records[trial]!.status === "screened");
  t.same(
    reused,
    expected.map(({ trial }) => trial).sort((a, b) => a - b),
    "what was finished is used again",
  );
  t.ok(
    marked.length >= 15 && reused.length > 0 && reused.length < records.length,
    `${reused.length} of ${records.length}`,
  );
  t.same(await server.rows('SELECT DISTINCT job_id FROM "_automl_checkpoints"'), [], "nothing is left of them");
  await until("the delivery of the other", async () => receiver.of(`/${name}`)[0] ?? null);
  t.match(JSON.parse(receiver.of(`/${name}`)[0]!.body), { event: "automl.completed", data: { id: longId } });
});
