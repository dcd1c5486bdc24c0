/**
 * What leaves beside the doors that leak-hunt.test.ts and leak-wires.test.ts ask: endpoints that refuse whoever may not
 * see everything or that reach no tables, undo, evaluations, files of the server, exported traces, the log, and the
 * link between nodes.
 */
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { connectPeer, listenToPeers, PeerConnection, peerKey, remotePort } from "../../src/cluster/peer-link.js";
import { ENDPOINTS } from "../../src/protocol/endpoints.js";
import { RequestWriter, readRequests } from "../../src/protocol/frames.js";
import { TestServer } from "../e2e/server.js";
import { freePort } from "../free-port.js";
import { derivedRequest } from "./derived-request.js";
import { fill, type LeakTenant, PASSWORD, SECRET } from "./leak-tenants.js";

const folders = mkdtempSync(join(tmpdir(), "tessera-leak-"));
t.teardown(() => rmSync(folders, { recursive: true, force: true }));
for (const name of ["alpha", "omega", "closed"]) mkdirSync(join(folders, name));
const hiddenFile = join(folders, "closed", "hidden.csv");
writeFileSync(hiddenFile, `${SECRET},1\n`);
writeFileSync(join(folders, "alpha", "open.csv"), "seen,1\n");
writeFileSync(join(folders, "omega", "own.csv"), `${SECRET} of omega,1\n`);
symlinkSync(hiddenFile, join(folders, "alpha", "link.csv"));

/** Longer than a busy machine takes. */
const ANSWER_MS = 120_000;

let exported = "";
const collector = createHttpServer((request, response) => {
  request.on("data", (piece) => {
    exported += piece;
  });
  request.on("end", () => response.writeHead(200, { "content-type": "application/json" }).end("{}"));
});

let server: TestServer;
/** With what is hidden, and without. */
let tenants: readonly [LeakTenant, LeakTenant];
let boss: string;
t.before(async () => {
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
  server = await TestServer.start({
    TESSERA_ACTORS: "1",
    TESSERA_FILES_ROOTS: `alpha:${join(folders, "alpha")},omega:${join(folders, "omega")}`,
    TESSERA_TELEMETRY_TRACES_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`,
    TESSERA_TELEMETRY_SAMPLE_RATIO: "1",
    TESSERA_SERVER_REQUEST_LOG: "all",
    TESSERA_SERVER_LOG_LEVEL: "info",
  });
  tenants = [await fill(server, "alpha", true), await fill(server, "omega", false)];
  boss = await server.login(tenants[0].boss, PASSWORD);
});
t.teardown(async () => {
  await server?.stop();
  collector.close();
});

const asked = async (method: string, path: string, body: unknown, token: string, type?: string) => {
  const headers: Record<string, string> = type === undefined ? {} : { "content-type": type };
  const signal = AbortSignal.timeout(ANSWER_MS);
  const { status, body: answer } = await server.call(method, path, body, { token, headers, signal });
  return { status, text: typeof answer === "string" ? answer : JSON.stringify(answer) };
};
const run = (sql: string, token: string, parameters: readonly unknown[] = []) =>
  asked("POST", "/v1/query/execute", { sql, parameters }, token);

/** They last, or end what the others need; the credentials are the reader's own. */
const NOT_ASKED = /^(?:socket\.|server\.echo|mcp\.connect|auth\.|users\.me|ai\.models\.pull)/;

t.test("every endpoint that filters nothing", { timeout: 300_000 }, async (t) => {
  let refused = 0;
  for (const endpoint of ENDPOINTS) {
    const { name, door, method, path } = endpoint;
    if (door === "statements" || door === "parts" || NOT_ASKED.test(name)) continue;
    const derived = derivedRequest(endpoint, { table: "board", collection: "notes" });
    const at = derived?.path ?? path.replaceAll(/\{\w+\}/g, "notes");
    const body = derived?.body ?? (method === "GET" ? undefined : {});
    const [there, without] = [
      await asked(method, at, body, tenants[0].token, derived?.type),
      await asked(method, at, body, tenants[1].token, derived?.type),
    ];
    t.notMatch(there.text, SECRET, name);
    t.equal(there.status, without.status, `${name}: ${there.text.slice(0, 200)} ${without.text.slice(0, 200)}`);
    t.not(there.status, 500, name);
    if (door !== "none" && there.status !== 426) t.equal(there.status, 403, `${name}: ${there.text.slice(0, 200)}`);
    if (there.status === 403) refused++;
  }
  t.ok(refused > 30, `${refused} refused`);
});

t.test("undo shows and changes rows for administrators without a lead alone", async (t) => {
  const [hiding] = tenants;
  t.equal((await run(`UPDATE board SET note = note || ' changed' WHERE owner = 'other'`, boss)).status, 200);
  const undo = { table: "board", as_of: hiding.past, dry_run: true };
  const shown = await asked("POST", "/v1/history/undo", undo, boss);
  t.match(shown.text, SECRET, "an administrator sees what it would change");
  const lead = { tables: ["staff"], statements: ["read", "write"] };
  const made = await server.expect(201, "POST", "/v1/api-keys", { name: "led", lead }, { token: boss });
  for (const token of [hiding.token, made.body.data.raw_key]) {
    for (const body of [undo, { ...undo, dry_run: false }, { ...undo, where: `note LIKE '%${SECRET}%'` }]) {
      const { status, text } = await asked("POST", "/v1/history/undo", body, token);
      t.equal(status, 403, text);
      if (!JSON.stringify(body).includes(SECRET)) t.notMatch(text, SECRET);
    }
  }
  t.match(
    (await run("SELECT note FROM board WHERE id = 5", boss)).text,
    `${SECRET} rare changed`,
    "nothing was undone",
  );
});

t.test("evaluations", async (t) => {
  const [hiding] = tenants;
  const listed = await asked("GET", "/v1/evaluations", undefined, boss);
  t.match(listed.text, SECRET, "there is one that tells the secret");
  const { id } = JSON.parse(listed.text).data.evaluations[0];
  t.match((await asked("GET", `/v1/evaluations/${id}`, undefined, boss)).text, SECRET);
  const body = { name: "own", collection: "notes", pairs: [{ query: "common", relevant: ["hidden1"] }] };
  for (const [expected, method, path, sent] of [
    [404, "GET", `/v1/evaluations/${id}`, undefined],
    [404, "GET", `/v1/evaluations/${id}/compare/${id}`, undefined],
    [404, "DELETE", `/v1/evaluations/${id}`, undefined],
    [200, "POST", "/v1/evaluations/retrieval", body],
    [200, "GET", "/v1/evaluations", undefined],
    [403, "POST", "/v1/evaluations/models", { model: "kinds", query: "SELECT 1 AS size, 'small' AS kind" }],
  ] as const) {
    const { status, text } = await asked(method, path, sent, hiding.token);
    t.equal(status, expected, `${path}: ${text}`);
    t.notMatch(text, SECRET);
  }
  for (const table of ["_evaluations", "_evaluation_scores"]) {
    for (const sql of [`TABLE ${table}`, `SELECT count(*) FROM ${table}`, `DELETE FROM ${table}`]) {
      const { status, text } = await run(sql, hiding.token);
      t.equal(status, 403, `${sql}: ${text}`);
      t.notMatch(text, SECRET);
    }
  }
});

t.test("files of the server: LOAD CSV and functions read those of the tenant's folders alone", async (t) => {
  const [hiding] = tenants;
  const reads = (file: string) => [
    `LOAD CSV FROM '${file}' AS row RETURN row`,
    `SELECT * FROM read_csv('${file.replace("file://", "")}', header => false)`,
  ];
  t.match(await run(reads("open.csv")[0]!, boss), { status: 200, text: /seen/ });
  t.match(await run(reads("open.csv")[0]!, hiding.token), { status: 403 }, "not for who may not see everything");
  const own = join(folders, "omega", "own.csv");
  for (const token of [hiding.token, boss]) {
    for (const file of [
      hiddenFile,
      own,
      "link.csv",
      "../closed/hidden.csv",
      "../omega/own.csv",
      `${folders}/none.csv`,
    ]) {
      for (const address of [file, `file://${file.startsWith("/") ? "" : "/"}${file}`]) {
        for (const sql of reads(address)) {
          const { status, text } = await run(sql, token);
          t.ok([400, 403, 404].includes(status), `${sql}: ${status} ${text}`);
          t.notMatch(text, SECRET, sql);
        }
      }
    }
  }
  // Whether something exists outside is not told.
  const unlike = async (file: string) =>
    (await run(reads(file)[0]!, hiding.token)).text.replace(/"meta".*/, "").replaceAll(file, "");
  t.equal(await unlike(hiddenFile), await unlike(`${folders}/none.csv`));
});

t.test("exported traces and the log have no values of statements, parameters and rows", async (t) => {
  const [hiding] = tenants;
  const failing = [
    `SELECT '${SECRET}'::int`,
    `SELECT * FROM board WHERE note = '${SECRET}' AND 1 / (id - 5) = 0`,
    "SELECT note::int FROM board WHERE id = 5",
    `INSERT INTO staff (id, name, pay) VALUES (9, 'eve', '${SECRET} 1')`,
    "UPDATE staff SET pay = (SELECT max(pay) FROM staff)",
    `DO $$ BEGIN RAISE EXCEPTION '%', (SELECT note FROM board WHERE id = 5); END $$`,
    `MATCH (n:Secretive) RETURN toInteger(n.title) / 0`,
    `MATCH (n {title: '${SECRET}'}) RETURN n`,
    `SELECT '${SECRET}`,
    `SELEC '${SECRET}'`,
    `/* ${SECRET} */ SELECT 1 -- ${SECRET}`,
    `SELECT $x$${SECRET}$x$, E'${SECRET}', U&'${SECRET}', B'0', '{"a": "${SECRET}"}'::json -> 'b'`,
  ];
  for (const sql of failing) for (const token of [hiding.token, boss]) await run(sql, token);
  for (const token of [hiding.token, boss]) {
    await run("SELECT $1::text, $2::int", token, [SECRET, SECRET]);
    await asked("POST", "/v1/collections/notes/search", { query: SECRET, mode: "text" }, token);
    await asked("GET", `/v1/collections/notes/documents/${SECRET}`, undefined, token);
    await asked("GET", `/v1/data/export?table=board&format=csv&filter=${SECRET}`, undefined, token);
    await asked("POST", "/v1/query/execute", `{"sql": "${SECRET}`, token);
    await asked(
      "POST",
      "/v1/graph/match",
      { cypher: "MATCH (n) WHERE n.title = $t RETURN n", parameters: { t: SECRET } },
      token,
    );
  }
  const last = "SELECT 'the last one', 4711 AS last_of_all";
  await run(last, boss);
  while (!exported.includes("last_of_all")) await sleep(50);
  t.match(exported, "INSERT INTO staff (id, name, pay) VALUES (?, ?, ?)", "statements are exported");
  t.notMatch(around(exported), SECRET, "traces");
  t.notMatch(around(server.lines.join("\n")), SECRET, "the log");
});

/** What to show of a long text. */
function around(text: string): string {
  const at = text.indexOf(SECRET);
  return at < 0 ? "" : text.slice(Math.max(0, at - 500), at + 200);
}

t.test("who listens between two nodes, or connects to one, learns nothing", async (t) => {
  const key = peerKey(Buffer.alloc(32, 7));
  const address = `127.0.0.1:${await freePort()}`;
  let heard: (body: string) => void = () => undefined;
  const arrived = new Promise<string>((resolve) => {
    heard = resolve;
  });
  const nothing = { frames: () => undefined, control: () => undefined, closed: () => undefined };
  const node = await listenToPeers(address, key, (socket) => {
    const connection = new PeerConnection(socket, {
      ...nothing,
      frames: (_, data) => readRequests(data, ({ bodyText }) => heard(bodyText)),
    });
    // What it answers passes the listener, too.
    connection.control(3, { kind: "audit", entry: SECRET });
  });
  const port = Number(address.split(":")[1]);
  let passed = Buffer.alloc(0);
  const between = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("data", (bytes: Buffer) => {
        passed = Buffer.concat([passed, bytes]);
        to.write(bytes);
      });
      from.on("close", () => to.destroy());
      from.on("error", () => to.destroy());
    }
  });
  between.listen(0, "127.0.0.1");
  await once(between, "listening");
  const through = `127.0.0.1:${(between.address() as AddressInfo).port}`;
  const connection = await connectPeer(through, "n1", key, nothing);
  const writer = new RequestWriter();
  writer.request(7, 1, 0, 3, 9, Date.now() + 5000, "r-1", `head of ${SECRET}`, Buffer.from(`body of ${SECRET}`));
  remotePort(connection, 3).postMessage(writer.take());
  t.equal(await arrived, `body of ${SECRET}`);
  t.ok(passed.length > 200, "it passed the listener");
  t.notOk(passed.includes(SECRET), "and says nothing");

  const stranger = connect(port, "127.0.0.1");
  let told = Buffer.alloc(0);
  stranger.on("data", (bytes) => {
    told = Buffer.concat([told, bytes]);
  });
  stranger.on("error", () => undefined);
  stranger.write("GET / HTTP/1.1\r\n\r\n");
  await once(stranger, "close");
  t.notOk(told.includes(SECRET));
  connection.close();
  between.close();
  node.close();
});
