/** Tenants: same names, mixed work, nothing crosses; and credentials that claim what they may not. */
import { createHmac } from "node:crypto";
import t from "tap";
import { sized } from "../lengths.js";
import { type Reply, TestServer } from "./server.js";

const REQUESTS = Number(process.env.ISOLATION_REQUESTS ?? sized(300, 2000));
const server = await TestServer.start({ TESSERA_ACTORS: "2" });
t.teardown(() => server.stop());

t.test("two tenants with the same table names", async (t) => {
  const names = ["red", "blue"];
  const tokens = await Promise.all(names.map((name) => server.tenant(name)));
  for (const token of tokens)
    await server.rows("CREATE TABLE item (id integer PRIMARY KEY, owner text NOT NULL)", [], { token });

  const live = names.map(() => new Set<number>());
  const wrong: unknown[] = [];
  let sent = 0;
  const client = async (): Promise<void> => {
    while (sent < REQUESTS) {
      const n = sent++;
      const who = n % 2;
      const options = { token: tokens[who]! };
      const id = 1 + ((n * 7919) % 500);
      switch (n % 5) {
        case 0:
        case 1: {
          const reply = await server.sql("INSERT INTO item VALUES ($1, $2)", [id, names[who]], options);
          if (reply.status === 200) live[who]!.add(id);
          else if (reply.status !== 409) wrong.push(reply.body);
          break;
        }
        case 2:
        case 3: {
          const rows = await server.rows("SELECT owner FROM item WHERE id <= $1", [id], options);
          if (rows.some(([owner]) => owner !== names[who])) wrong.push(rows);
          break;
        }
        default: {
          const rows = await server.rows("UPDATE item SET owner = owner WHERE id = $1 RETURNING owner", [id], options);
          if (rows.some(([owner]) => owner !== names[who])) wrong.push(rows);
        }
      }
    }
  };
  await Promise.all(Array.from({ length: 64 }, client));
  t.same(wrong, []);
  for (const [who, token] of tokens.entries()) {
    const rows = await server.rows("SELECT id, owner FROM item ORDER BY id", [], { token });
    t.same(
      rows,
      [...live[who]!].sort((a, b) => a - b).map((id) => [id, names[who]]),
    );
  }
  t.equal((await server.sql("SELECT * FROM item")).status, 400, "the system tenant has no such table");
});

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const forge = (header: object, claims: object, secret: string | null): string => {
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${secret === null ? "" : createHmac("sha256", secret).update(text).digest("base64url")}`;
};

t.test("forged tokens", async (t) => {
  const claims = JSON.parse(Buffer.from(server.token.split(".")[1]!, "base64url").toString());
  const header = { alg: "HS256", typ: "JWT" };
  const [head, , signature] = server.token.split(".");
  const tokens: Record<string, string> = {
    "another company_id under the old signature": `${head}.${part({ ...claims, company_id: "red", tenant_id: "red" })}.${signature}`,
    "alg none": forge({ alg: "none", typ: "JWT" }, claims, null),
    "a wrong secret": forge(header, claims, "secret"),
    "an empty secret": forge(header, claims, ""),
    expired: forge(header, { ...claims, exp: claims.iat - 1 }, "secret"),
    "no token": "",
    "half a token": server.token.slice(0, 40),
    "an unknown key": `ak_${"x".repeat(43)}`,
    "a key of the other prefix": `tessera_sk_${"x".repeat(43)}`,
  };
  for (const [what, token] of Object.entries(tokens)) {
    const reply = await server.call("GET", "/v1/users/me", undefined, { token });
    t.equal(reply.status, 401, what);
    t.match(reply.body.error.code, /^(unauthorized|missing_authorization|missing_claims)$/);
  }
  const retired = await server.call("GET", "/v1/users/me", undefined, {
    token: null,
    headers: { "x-api-key": "ak_x" },
  });
  t.match([retired.status, retired.body.error.message], [401, /Authorization/]);
});

t.test("disabling takes effect at once", async (t) => {
  const token = await server.tenant("brief");
  t.equal((await server.call("GET", "/v1/users/me", undefined, { token })).status, 200);
  const key = (await server.expect(201, "POST", "/v1/api-keys", { name: "k" }, { token })).body.raw_key;
  t.equal((await server.sql("SELECT 1", [], { token: key })).status, 200);
  await server.expect(200, "PATCH", "/admin/tenants/brief/users/brief-user", { is_active: false });
  t.equal((await server.call("GET", "/v1/users/me", undefined, { token })).status, 401);
  t.equal((await server.sql("SELECT 1", [], { token: key })).status, 401);
  await server.expect(200, "PATCH", "/admin/tenants/brief/users/brief-user", { is_active: true });
  await server.expect(200, "PATCH", "/admin/tenants/brief", { is_active: false });
  t.equal((await server.sql("SELECT 1", [], { token: key })).status, 401);
  const login = await server.call(
    "POST",
    "/v1/auth/login",
    { username: "brief-user", password: "password of brief" },
    { token: null },
  );
  t.ok(login.status === 401 || login.status === 403);
});

t.test("API keys", async (t) => {
  const token = await server.tenant("keys");
  await server.rows("CREATE TABLE note (id integer PRIMARY KEY)", [], { token });
  const made = await server.expect(
    201,
    "POST",
    "/v1/api-keys",
    { name: "reader", permission: "ReadOnly", expires_in_days: 1 },
    { token },
  );
  const { raw_key, api_key } = made.body.data;
  t.match(made.body, { raw_key, api_key: { name: "reader", permission: "ReadOnly", is_active: true, usage_count: 0 } });
  t.match(raw_key, /^ak_/);
  const refused = (reply: Reply): void => {
    t.equal(reply.status, 403);
    t.match(reply.body.error.message, /permission/);
  };
  t.same(await server.rows("SELECT count(*) FROM note", [], { token: raw_key }), [[0]]);
  refused(await server.sql("INSERT INTO note VALUES (1)", [], { token: raw_key }));
  refused(await server.sql("CREATE TABLE other (id integer)", [], { token: raw_key }));
  refused(await server.sql("EXPLAIN ANALYZE DELETE FROM note", [], { token: raw_key }));
  refused(await server.call("POST", "/v1/api-keys", { name: "more" }, { token: raw_key }));
  const id = (await server.expect(201, "POST", "/v1/transactions", {}, { token: raw_key })).body.data.id;
  refused(await server.call("POST", `/v1/transactions/${id}/execute`, { sql: "DELETE FROM note" }, { token: raw_key }));
  const byScheme = await server.call("GET", "/v1/users/me", undefined, {
    token: null,
    headers: { authorization: `ApiKey ${raw_key}` },
  });
  t.equal(byScheme.status, 200);
  t.match((await server.expect(200, "GET", "/v1/api-keys", undefined, { token })).body, {
    total: 1,
    keys: [{ id: api_key.id }],
  });
  await server.expect(204, "DELETE", `/v1/api-keys/${api_key.id}`, undefined, { token });
  t.equal((await server.sql("SELECT 1", [], { token: raw_key })).status, 401);
});

t.test("administration is for super administrators", async (t) => {
  const token = await server.tenant("plain", ["admin"]);
  t.equal((await server.call("GET", "/admin/tenants", undefined, { token })).status, 403);
  t.equal((await server.call("GET", "/admin/tenants/red/users", undefined, { token })).status, 403);
  await server.expect(201, "POST", "/admin/tenants/plain/users", {
    username: "chief",
    password: "password of chief",
    roles: ["super_admin"],
  });
  const chief = await server.login("chief", "password of chief");
  t.equal((await server.call("GET", "/admin/tenants/plain/users", undefined, { token: chief })).status, 200);
  t.equal((await server.call("GET", "/admin/tenants/red/users", undefined, { token: chief })).status, 403);
  t.equal((await server.call("POST", "/admin/tenants", { id: "mine" }, { token: chief })).status, 403);
});
