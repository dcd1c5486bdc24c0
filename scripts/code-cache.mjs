/**
 * Makes the code that V8 has compiled part of the build: starts the bundled server on an empty directory, uses it as
 * most do at first, and has each of its threads keep the code of the functions that have run, beside its script
 * (workers/load-program.ts). Called by scripts/build.mjs.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { analyze } from "./code-cache-reports.mjs";

/** On a busy machine; alone it takes seconds. */
const PATIENCE_MS = 300_000;
/** What `use` makes run. */
const KINDS = ["main", "actor", "task"];
const PASSWORD = "only while the program is built";

/** Variables of the caller's own would be settings; options of node would change V8's flags. */
const SURROUNDINGS = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith("TESSERA_") && !name.startsWith("NODE_")),
);

/** Throws when the server cannot be started. */
export async function makeCodeCache() {
  const directory = mkdtempSync(join(tmpdir(), "tessera-build-"));
  const hook = new URL("code-cache-hook.cjs", import.meta.url).pathname;
  const server = spawn(process.execPath, ["--require", hook, "dist/server/main.cjs", "serve"], {
    env: {
      ...SURROUNDINGS,
      TESSERA_PORT: "0",
      TESSERA_DATA_DIR: directory,
      TESSERA_ADMIN_PASSWORD: PASSWORD,
      TESSERA_AUTH_PASSWORD_COST: "10",
      TESSERA_ACTORS: "1",
      TESSERA_SERVER_LOG_LEVEL: "warn",
      PISCINA_DISABLE_ATOMICS: "1", // else idle task threads hear nothing
    },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const ended = once(server, "exit");
  const printed = [];
  const late = setTimeout(() => {
    printed.push(`it took more than ${PATIENCE_MS / 1000} seconds`);
    server.kill("SIGKILL");
  }, PATIENCE_MS);
  server.stderr.on("data", (data) => printed.push(data));
  try {
    await use(await addressOf(server, printed));
    server.send({ kinds: KINDS });
    const [answer] = await Promise.race([once(server, "message"), ended.then(() => [{}])]);
    if (answer.saved === undefined) throw new Error(answer.failed ?? `the server ended: ${printed.join("")}`);
    const missing = KINDS.filter((kind) => !answer.saved.some((name) => name.startsWith(`${kind}-`)));
    if (missing.length > 0) throw new Error(`there is no code of ${missing.join(", ")}`);
  } finally {
    server.kill("SIGTERM");
    await ended;
    clearTimeout(late);
    rmSync(directory, { recursive: true, force: true });
  }
}

async function addressOf(server, printed) {
  for await (const line of createInterface({ input: server.stdout })) {
    const match = /^listening on (http:\S+)$/.exec(line);
    if (match !== null) return match[1];
    printed.push(`${line}\n`);
  }
  throw new Error(`the server did not start: ${printed.join("")}`);
}

/** What is used soon after most starts: the rest is compiled when it is used. */
async function use(url) {
  let token = null;
  const call = async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: { "content-type": "application/json", ...(token !== null && { authorization: `Bearer ${token}` }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return text === "" ? null : JSON.parse(text);
  };
  const sql = (text, parameters = []) => call("POST", "/v1/query/execute", { sql: text, parameters });
  await call("GET", "/health");
  token = (await call("POST", "/v1/auth/login", { username: "admin", password: PASSWORD })).access_token;
  await call("GET", "/v1/users/me");
  await sql(
    "CREATE TABLE build (id integer PRIMARY KEY, name text NOT NULL, v vector(384) GENERATED ALWAYS AS (EMBED(name)) STORED)",
  );
  await sql("INSERT INTO build VALUES ($1, $2), (2, 'two')", [1, "one"]);
  await sql("SELECT name, count(*) FROM build WHERE id > $1 GROUP BY name ORDER BY name LIMIT 5", [0]);
  await sql("UPDATE build SET name = upper(name) WHERE id = 1");
  await sql("DELETE FROM build WHERE id = 2");
  await sql("CREATE (:Build {name: 'one'})-[:MADE_BY]->(:Build {name: 'two'})");
  await sql("MATCH (a:Build)-[:MADE_BY]->(b) RETURN a.name, b.name");
  await analyze(sql);
  await call("POST", "/admin/tenants", { id: "build" });
  // Computed by a task thread, since it is not ASCII.
  const password = "größer als nötig";
  await call("POST", "/admin/tenants/build/users", { username: "build-user", password, roles: ["user"] });
}
