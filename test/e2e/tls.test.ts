/**
 * HTTPS, WSS, PostgreSQL's protocol and Bolt with a certificate that openssl makes, its renewal by SIGHUP, and what is
 * said of files that are none.
 */
import { execFileSync, spawn } from "node:child_process";
import { type EventEmitter, once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "node:tls";
import neo4j from "neo4j-driver";
import pg from "pg";
import t from "tap";
import { freePort } from "../free-port.js";
import { WITH_BOLT } from "./bolt-client.js";
import { ADMIN_PASSWORD, PROGRAM } from "./server.js";
import { WITH_POSTGRES } from "./wire-client.js";

const directory = mkdtempSync(join(tmpdir(), "tessera-tls-"));
t.teardown(() => rmSync(directory, { recursive: true, force: true }));
const keyFile = join(directory, "key.pem");
const certFile = join(directory, "cert.pem");

function makeCertificate(name: string): boolean {
  const args = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=${name}`.split(" ");
  try {
    execFileSync("openssl", [...args, "-keyout", keyFile, "-out", certFile], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** A port that was chosen by the system cannot be shared with the next certificate. */
const port = await freePort();
const lines: string[] = [];
function start(environment: Record<string, string>): { child: ReturnType<typeof spawn>; url: Promise<string> } {
  const child = spawn(PROGRAM, ["serve"], {
    env: {
      PATH: process.env.PATH ?? "",
      TESSERA_PORT: String(port),
      TESSERA_ACTORS: "1",
      TESSERA_DATA_DIR: join(directory, "data"),
      TESSERA_ADMIN_PASSWORD: ADMIN_PASSWORD,
      TESSERA_SERVER_TLS_CERT_FILE: certFile,
      TESSERA_SERVER_TLS_KEY_FILE: keyFile,
      ...environment,
    },
  });
  const url = new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout!, child.stderr!]) {
      createInterface({ input: stream }).on("line", (line) => {
        lines.push(line);
        const match = /^listening on (\S+)$/.exec(line);
        if (match !== null) resolve(match[1]!);
      });
    }
    child.once("exit", (code) => reject(new Error(`ended with ${code}`)));
  });
  return { child, url };
}

function get(url: string): Promise<{ status: number; body: string; subject: string }> {
  return new Promise((resolve, reject) => {
    // The certificate is its own authority, and another one for each connection is what is tested.
    const sent = request(url, { rejectUnauthorized: false, agent: false }, (response) => {
      const { subject } = (response.socket as import("node:tls").TLSSocket).getPeerCertificate();
      let body = "";
      response.on("data", (data: Buffer) => {
        body += data.toString();
      });
      response.on("end", () => resolve({ status: response.statusCode!, body, subject: String(subject.CN) }));
    });
    sent.on("error", reject);
    sent.end();
  });
}

/** The status line that an upgrade is answered with. */
function upgraded(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
      const key = Buffer.alloc(16).toString("base64");
      socket.write(
        `GET /v1/ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
      );
    });
    socket.once("data", (data: Buffer) => {
      resolve(data.toString("latin1").split("\r\n")[0]!);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

/** What PostgreSQL's protocol answers on an encrypted connection, and whose certificate that has. */
async function asked(sql: string): Promise<{ rows: number; subject: string }> {
  const line = lines.findLast((each) => each.includes("postgresql://"))!;
  const client = new pg.Client({
    host: "127.0.0.1",
    port: Number(/:(\d+)$/.exec(line)![1]),
    user: "admin",
    password: ADMIN_PASSWORD,
    database: "system",
    ssl: { rejectUnauthorized: false },
    enableChannelBinding: true,
  });
  const { connection } = client as unknown as { connection: EventEmitter };
  const offered = once(connection, "authenticationSASL");
  await client.connect();
  const [{ mechanisms }] = await offered;
  if (mechanisms[0] !== "SCRAM-SHA-256-PLUS") throw new Error("the sign-in is not bound to the certificate");
  const { stream } = (client as unknown as { connection: { stream: import("node:tls").TLSSocket } }).connection;
  const subject = String(stream.getPeerCertificate().subject.CN);
  const { rows } = await client.query(sql);
  await client.end();
  return { rows: rows.length, subject };
}

/** What Bolt answers on an encrypted connection. */
async function askedByBolt(query: string): Promise<number> {
  const port = /:(\d+)$/.exec(lines.findLast((each) => each.includes("bolt://"))!)![1];
  // The certificate is its own authority.
  const driver = neo4j.driver(`bolt+ssc://127.0.0.1:${port}`, neo4j.auth.basic("admin", ADMIN_PASSWORD));
  try {
    return (await driver.executeQuery(query)).records.length;
  } finally {
    await driver.close();
  }
}

const LONG = "SELECT i, repeat('x', 100) FROM generate_series(1, 20000) i";

if (!makeCertificate("first.example")) {
  t.pass("skipped: there is no openssl on this machine to make a certificate with");
} else {
  t.test("requests, WebSockets and a new certificate", async (t) => {
    const { child, url } = start({ ...WITH_POSTGRES, ...WITH_BOLT });
    t.teardown(() => child.kill("SIGTERM"));
    const base = await url;
    t.match(base, /^https:/);
    t.match(await get(`${base}/health`), { status: 200, subject: "first.example" });
    t.equal(await upgraded(base), "HTTP/1.1 101 Switching Protocols");
    while (!lines.some((line) => line.includes("postgresql://"))) await sleep(10);
    t.same(await asked(LONG), { rows: 20_000, subject: "first.example" });
    while (!lines.some((line) => line.includes("bolt://"))) await sleep(10);
    t.equal(await askedByBolt("UNWIND range(1, 20000) AS i RETURN i, 'x'"), 20_000);
    await t.rejects(
      fetch(`${base.replace("https", "http")}/health`, { signal: AbortSignal.timeout(5000) }),
      "plain HTTP is not spoken",
    );
    makeCertificate("second.example");
    child.kill("SIGHUP");
    // What was about to connect when the old certificate's socket was closed is reset, and tries again.
    while ((await get(`${base}/health`).catch(() => null))?.subject !== "second.example") await sleep(50);
    await sleep(200);
    while ((await asked("SELECT 1")).subject !== "second.example") await sleep(50);
    t.equal((await get(`${base}/v1/users/me`)).status, 401, "all routes are there");
    writeFileSync(certFile, "no certificate");
    child.kill("SIGHUP");
    while (!lines.some((line) => line.includes("could not be renewed"))) await sleep(50);
    t.match(await get(`${base}/health`), { status: 200, subject: "second.example" }, "the old one stays");
  });

  t.test("files that are no certificate stop the start", async (t) => {
    writeFileSync(certFile, "no certificate");
    await t.rejects(start({}).url);
    t.ok(lines.some((line) => line.includes("server.tls") && line.includes("PEM")));
    await t.rejects(start({ TESSERA_SERVER_TLS_KEY_FILE: "" }).url);
    t.ok(lines.some((line) => line.includes("server.tls.key_file go together")));
  });
}
