import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { ConfigError } from "../../src/config/config-error.js";
import { describeConfig } from "../../src/config/describe-config.js";
import { loadConfig, loadConfigWithSources } from "../../src/config/load-config.js";
import { SETTINGS } from "../../src/config/settings.js";

const directory = mkdtempSync(join(tmpdir(), "tessera-config-"));
t.teardown(() => rmSync(directory, { recursive: true }));

let files = 0;
function configFile(text: string): string {
  const file = join(directory, `${++files}.toml`);
  writeFileSync(file, text);
  return file;
}

/** The problems that stop a start with this file and environment. */
function problemsOf(file: string | undefined, env: Record<string, string> = {}): readonly string[] {
  try {
    loadConfig({ ...(file === undefined ? {} : { file }), env });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

t.test("the defaults serve on loopback, port 8080, with the documented limits", async (t) => {
  const config = loadConfig({ env: {} });
  t.equal(config.server.host, "127.0.0.1");
  t.equal(config.server.port, 8080);
  t.equal(config.server.requestTimeout, 300);
  t.equal(config.server.longRequestTimeout, 900);
  t.equal(config.query.maxRows, 1000);
  t.same(config.rateLimit, { perSecond: 60, burst: 120 });
  t.equal(config.auth.tokenLifetimeSeconds, 3600);
  t.equal(config.auth.registration.enabled, false);
  t.equal(config.storage.durability, "fsync");
  t.ok(config.actors.count >= 1, "0 actors means as many as the cores allow");
});

t.test("the value cannot be changed", async (t) => {
  const config = loadConfig({ env: {} });
  t.throws(() => {
    (config.server.cors as { enabled: boolean }).enabled = true;
  }, TypeError);
});

t.test("the environment goes over the file, the file over the defaults, the command line over all", async (t) => {
  const file = configFile("[server]\nport = 1111\nrequest_timeout = 7\n[query]\nmax_rows = 22\n");
  const env = { TESSERA_SERVER_PORT: "3333", TESSERA_CONFIG: file };
  t.equal(loadConfig({ env: { TESSERA_CONFIG: file } }).server.port, 1111);
  t.equal(loadConfig({ env }).server.port, 3333);
  t.equal(loadConfig({ env, overrides: { "server.port": "0" } }).server.port, 0);
  t.equal(loadConfig({ env }).server.requestTimeout, 7);
  t.equal(loadConfig({ env }).query.maxRows, 22);
});

t.test("every key can be set by its variable", async (t) => {
  // Items that only some texts are.
  const lists: Record<string, string[]> = {
    "files.roots": ["/a", "/b"],
    "telemetry.headers": ["a: 1", "b: 2"],
    "recipes.signing_keys": [`${"A".repeat(43)}=`, `${"B".repeat(43)}=`],
  };
  for (const { key, variables, path, schema } of SETTINGS) {
    // In JSON: below.
    if (key === "auth.oidc.providers") continue;
    const values = schema as { enum?: string[]; minimum?: number; type?: string; items?: { enum?: string[] } };
    const text =
      values.enum?.at(-1) ??
      (values.type === "integer"
        ? String(Math.max(1, values.minimum ?? 0))
        : values.type === "boolean"
          ? "true"
          : values.type === "array"
            ? (values.items?.enum ?? lists[key] ?? ["a", "b"]).join(", ")
            : "");
    const companions: Record<string, string> = {
      "auth.registration.enabled": "TESSERA_AUTH_REGISTRATION_TENANT",
      "server.cors.enabled": "TESSERA_SERVER_CORS_ORIGINS",
      "transactions.max_seconds": "TESSERA_TRANSACTIONS_TIMEOUT_SECONDS",
      "auth.login.delay_seconds_max": "TESSERA_AUTH_LOGIN_DELAY_SECONDS",
      "storage.encryption": "TESSERA_SECRETS_KEY_FILE",
    };
    const companion = companions[key];
    if (text === "") continue;
    const env = {
      [variables.at(-1)!]: text,
      ...(companion === undefined ? {} : { [companion]: companion.endsWith("SECONDS") ? "1" : "acme" }),
    };
    const value = path.reduce<unknown>((table, name) => (table as Record<string, unknown>)[name], loadConfig({ env }));
    t.same(value, values.type === "array" ? text.split(", ") : values.type === "boolean" ? true : parsed(text), key);
  }
});

t.test("providers of OpenID Connect are tables, or JSON in the variable", async (t) => {
  const corp = { name: "corp", issuer: "https://a.example", audience: ["x"], roles_claim: "r", roles: { s: "user" } };
  const fromVariable = (...providers: object[]) =>
    loadConfig({ env: { TESSERA_AUTH_OIDC_PROVIDERS: JSON.stringify(providers) } }).auth.oidc.providers;
  t.same(fromVariable({ ...corp, tenant: "acme" }), [{ ...corp, tenant: "acme" }]);
  const text = `[[auth.oidc.providers]]
name = "corp"
issuer = "https://a.example"
audience = ["x"]
tenant = "acme"
roles_claim = "r"
roles = { s = "user" }
`;
  const file = join(t.testdir({ "oidc.toml": text }), "oidc.toml");
  t.same(loadConfig({ file, env: {} }).auth.oidc.providers, [{ ...corp, tenant: "acme" }]);
  for (const [providers, problem] of [
    [[corp], /\(0\.tenant\) or tenant_claim is needed/],
    [[{ ...corp, tenant: "acme", issuer: "http://a.example" }], /\(0\.issuer\) has to be https/],
    [[{ ...corp, tenant: "acme", roles: { s: "king" } }], /\(0\.roles/],
    [[{ ...corp, tenant: "acme", algorithms: ["HS256"] }], /\(0\.algorithms/],
    [[{ ...corp, tenant: "acme", client_secret: "hidden-one" }], /\(0\.client_secret\) needs client_id/],
    [
      [
        { ...corp, tenant: "acme" },
        { ...corp, tenant: "acme", name: "other" },
      ],
      /issuer and audience/,
    ],
    [[{ ...corp, tenant: "acme", nonsense: 1 }], /\(0 must not have additional properties\)|nonsense/],
  ] as const) {
    t.throws(() => fromVariable(...providers), { message: problem });
    try {
      fromVariable(...providers);
    } catch (error) {
      t.notMatch(String(error), /hidden-one/);
    }
  }
  t.throws(() => loadConfig({ env: { TESSERA_AUTH_OIDC_PROVIDERS: "{" } }), { message: /auth\.oidc\.providers/ });
});

function parsed(text: string): unknown {
  return /^\d+$/.test(text) ? Number(text) : text;
}

t.test("the short names work", async (t) => {
  const config = loadConfig({
    env: {
      TESSERA_HOST: "::",
      TESSERA_PORT: "0",
      TESSERA_DATA_DIR: "/somewhere/data",
      TESSERA_ADMIN_PASSWORD: "correct horse",
      TESSERA_RATE_LIMIT_PER_SECOND: "500",
      TESSERA_ACTORS: "3",
      SQL_MAX_ROW_COUNT: "77",
    },
  });
  t.equal(config.server.host, "::");
  t.equal(config.server.port, 0);
  t.equal(config.data.dir, "/somewhere/data");
  t.equal(config.auth.adminPassword, "correct horse");
  t.same(config.rateLimit, { perSecond: 500, burst: 1000 }, "the burst follows unless it is set");
  t.equal(config.actors.count, 3);
  t.equal(config.query.maxRows, 77);
  t.equal(loadConfig({ env: { TESSERA_RATE_LIMIT_PER_SECOND: "0" } }).rateLimit.perSecond, 0);
  t.equal(
    loadConfig({ env: { TESSERA_RATE_LIMIT_PER_SECOND: "10", TESSERA_RATE_LIMIT_BURST: "15" } }).rateLimit.burst,
    15,
  );
});

t.test("an empty variable counts as not set, and foreign variables are left alone", async (t) => {
  t.equal(loadConfig({ env: { TESSERA_PORT: "", PORT: "1", SQL_MAX: "x" } }).server.port, 8080);
});

t.test("an unknown key stops the start, with its place and the key that was meant", async (t) => {
  const file = configFile("[server]\nhost = '::'\nprot = 80\n\n[quary]\nmax_rows = 1\n");
  const problems = problemsOf(file);
  t.equal(problems.length, 2);
  t.match(problems[0], `${file}:3: there is no key server.prot; did you mean server.port?`);
  t.match(problems[1], `${file}:5: there is no key quary; did you mean query?`);
});

t.test("a key in the wrong section is led to the right one", async (t) => {
  t.match(problemsOf(configFile("[query]\nrequest_timeout = 3\n"))[0], /did you mean server\.request_timeout\?/);
});

t.test("an unknown TESSERA_ variable stops the start", async (t) => {
  t.same(problemsOf(undefined, { TESSERA_PROT: "1" }), [
    "TESSERA_PROT: this variable does not exist; did you mean TESSERA_PORT?",
  ]);
});

t.test("a bad value is named with its source and what is allowed", async (t) => {
  const file = configFile('[storage]\ndurability = "sometimes"\n[server]\nport = "http"\n');
  t.same(problemsOf(file, { SQL_MAX_ROW_COUNT: "many", TESSERA_SERVER_DOCS: "perhaps" }), [
    `${file}:4: "http" is not allowed for server.port; it must be a whole number from 0 to 65535`,
    'TESSERA_SERVER_DOCS: "perhaps" is not allowed for server.docs; it must be true or false',
    `${file}:2: "sometimes" is not allowed for storage.durability; it must be one of "fsync", "interval"`,
    'SQL_MAX_ROW_COUNT: "many" is not allowed for query.max_rows; it must be a whole number from 1 to 10000000',
  ]);
  t.match(problemsOf(undefined, { TESSERA_PORT: "65536" })[0], /^TESSERA_PORT: 65536 is not allowed/);
  t.match(problemsOf(configFile("[server.cors]\norigins = [1]\n"))[0], /server\.cors\.origins; it must be a list/);
});

t.test("a bad password is not printed", async (t) => {
  const password = "x".repeat(2000);
  const [problem] = problemsOf(undefined, { TESSERA_ADMIN_PASSWORD: password });
  t.match(problem, /auth\.admin_password/);
  t.notMatch(problem, password);
});

t.test("two variables that disagree stop the start", async (t) => {
  t.match(problemsOf(undefined, { TESSERA_PORT: "1", TESSERA_SERVER_PORT: "2" })[0], /both set server\.port/);
  t.same(problemsOf(undefined, { TESSERA_PORT: "2", TESSERA_SERVER_PORT: "2" }), []);
});

t.test("broken TOML is reported with line and column, a missing file by name", async (t) => {
  const file = configFile("[server]\nport = = 3\n");
  t.match(problemsOf(file)[0], `${file}:2:8: not valid TOML`);
  t.match(problemsOf(join(directory, "absent.toml"))[0], /absent\.toml: cannot be read/);
  t.match(problemsOf(configFile("query = 3\n"))[0], /query is a section/);
});

t.test("values that contradict each other stop the start", async (t) => {
  t.match(problemsOf(configFile("[auth.registration]\nenabled = true\n"))[0], /needs auth\.registration\.tenant/);
  t.match(problemsOf(configFile('[auth.registration]\ntenant = "system"\n'))[0], /must not be the system tenant/);
  t.match(problemsOf(undefined, { TESSERA_TRANSACTIONS_TIMEOUT_SECONDS: "9999" })[0], /transactions\.max_seconds/);
  t.match(problemsOf(undefined, { TESSERA_SERVER_CORS_ENABLED: "true" })[0], /needs server\.cors\.origins/);
  const key = { TESSERA_QUERY_AI_SERVICE_API_KEY_ENV: "PROVIDER_KEY" };
  t.match(problemsOf(undefined, key)[0], /names PROVIDER_KEY, which is not set/);
  t.same(problemsOf(undefined, { ...key, PROVIDER_KEY: "k" }), []);
});

t.test("check-config prints the values in effect with their sources and hides secrets", async (t) => {
  const file = configFile("[query]\nmax_rows = 5\n");
  const env = { TESSERA_PORT: "0", TESSERA_ADMIN_PASSWORD: "open sesame" };
  const text = describeConfig(loadConfigWithSources({ file, env }));
  t.match(text, /^port = 0 +# TESSERA_PORT$/m);
  t.match(text, new RegExp(`^max_rows = 5 +# ${file}:2$`, "m"));
  t.match(text, /^burst = 120 +# default/m);
  t.notMatch(text, /open sesame/);
  const again = loadConfig({ file: configFile(text.replace(/^admin_password.*$/m, "")), env: {} });
  t.equal(again.query.maxRows, 5, "what it prints can be used as a file");
});

t.test("all problems are told at once", async (t) => {
  t.throws(() => loadConfig({ env: { TESSERA_PROT: "0", TESSERA_PORT: "x" } }), {
    name: "ConfigError",
    message: /2 problems:\n {2}TESSERA_PROT: .*\n {2}TESSERA_PORT: /,
  });
});
