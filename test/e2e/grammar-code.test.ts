/**
 * V8 does not optimize the grammar's WASM: neither where a test or a tool loads it, nor in the threads of a server,
 * whose main thread compiles it for them. V8 itself says which functions it has compiled, and how.
 */
import { execFile, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import t from "tap";
import { TestServer } from "./server.js";

const TRACED = "--trace-wasm-compilation-times";
/** V8's other threads would be optimizing the largest function for as long. */
const PATIENCE_MS = 700;

const SQL = `SELECT a.x, count(*), sum(CASE WHEN b.y > 3 THEN b.z * (1 - a.w) ELSE 0 END) AS total FROM a, b, c
  WHERE a.id = b.id AND b.k = c.k AND a.d BETWEEN DATE '2026-01-01' AND DATE '2026-02-01' AND c.name LIKE '%x%'
  AND EXISTS (SELECT 1 FROM d WHERE d.id = a.id) GROUP BY a.x HAVING count(*) > 2 ORDER BY total DESC LIMIT 10`;

/** Of functions from that size on. Small ones that run while the grammar is loaded take no time. */
const BODY_BYTES = 4_000;

function tiersOf(printed: string) {
  const sizes = (tier: string) => [...printed.matchAll(new RegExp(`using ${tier},.* bodysize (\\d+)`, "g"))];
  const has = (tier: string) => sizes(tier).some(([, bytes]) => Number(bytes) >= BODY_BYTES);
  return { plain: has("Liftoff"), optimized: has("TurboFan") };
}

t.test("V8 would optimize it", async (t) => {
  const load = 'const { loadModule, parseSync } = require("libpg-query"); loadModule().then(run);';
  const run = `function run() { for (let i = 0; i < 20; i++) parseSync(${JSON.stringify(SQL)}); }`;
  const child = spawn(process.execPath, [TRACED, "-e", `${load} ${run} setInterval(() => {}, 1000);`]);
  t.teardown(() => child.kill("SIGKILL"));
  let printed = "";
  for await (const text of child.stdout) {
    printed += text;
    if (tiersOf(printed).optimized) break;
  }
  t.same(tiersOf(printed), { plain: true, optimized: true });
});

t.test("it is not optimized in a thread by itself", async (t) => {
  const parse = new URL("../../src/sql/parse/parse.js", import.meta.url).href;
  const load = `const { loadParser, parseSql } = await import("${parse}"); await loadParser();`;
  const run = `for (let i = 0; i < 20; i++) parseSql(${JSON.stringify(SQL)}); setTimeout(() => {}, ${PATIENCE_MS});`;
  const { stdout } = await promisify(execFile)(process.execPath, [TRACED, "--input-type=module", "-e", load + run]);
  t.same(tiersOf(stdout), { plain: true, optimized: false });
});

t.test("nor in an actor's thread", async (t) => {
  const server = await TestServer.start({ TESSERA_ACTORS: "1", TESSERA_NODE_FLAGS: TRACED });
  t.teardown(() => server.stop());
  for (let i = 0; i < 20; i++) {
    const body = { sql: SQL.replaceAll("10", String(10 + i)) };
    t.equal((await server.call("POST", "/v1/query/execute", body)).status, 400, "there is no such table");
  }
  await sleep(PATIENCE_MS);
  t.equal(await server.terminate(), 0);
  t.same(tiersOf(server.lines.join("\n")), { plain: true, optimized: false });
});
