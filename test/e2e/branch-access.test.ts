/** Who may enter a branch, and whose roles and policies say what is seen in it: chosen at the fork, changed later. */
import t from "tap";
import { branchCalls } from "./branch-calls.js";
import { TestServer } from "./server.js";

const server = await TestServer.start({ TESSERA_ACTORS: "1" });
t.teardown(() => server.stop());

const { as, fork, rows } = branchCalls(server);

async function userOf(tenant: string, username: string): Promise<string> {
  const password = `a password of ${username}`;
  await server.expect(201, "POST", `/admin/tenants/${tenant}/users`, { username, password, roles: ["user"] });
  return server.login(username, password);
}

t.test("users and keys by choice", async (t) => {
  const token = await server.tenant("chosen", ["super_admin"]);
  const [ann, bob] = [await userOf("chosen", "ann-chosen"), await userOf("chosen", "bob-chosen")];
  const keyOf = async (of: string) =>
    (await server.expect(201, "POST", "/v1/api-keys", { name: "k", permission: "FullAccess" }, { token: of })).body
      .data;
  const [key, other] = [await keyOf(token), await keyOf(token)];
  const reads = async (of: object, branch: string): Promise<number> =>
    (
      await server.call(
        "POST",
        "/v1/query/execute",
        { sql: "SELECT v FROM item" },
        {
          ...of,
          headers: { "X-Tessera-Branch": branch, ...("headers" in of ? (of.headers as object) : {}) },
        },
      )
    ).status;
  const byKey = ({ raw_key }: { raw_key: string }) => ({ token: raw_key });
  await rows(token, "CREATE TABLE item (id int PRIMARY KEY, v int)");
  await rows(token, "INSERT INTO item VALUES (1, 1)");
  await fork(token, { name: "all" });
  await fork(token, { name: "some", users: ["ann-chosen"], keys: [key.api_key.id] });
  await fork(token, { name: "child", from: "some" });
  t.equal(await reads({ token: bob }, "all"), 200, "as long as nothing is chosen");
  for (const branch of ["some", "child"]) {
    t.equal(await reads({ token: ann }, branch), 200, "who is named");
    t.equal(await reads({ token }, branch), 200, "an administrator who has signed in");
    t.equal(await reads({ token: bob }, branch), 403, "who is not named");
    t.equal(await reads(byKey(key), branch), 200, "the key that is named");
    t.equal(await reads(byKey(other), branch), 403, "another key, also of an administrator");
    t.equal((await server.call("GET", `/v1/branches/${branch}/diff`, undefined, { token: bob })).status, 403);
    t.equal(
      (await server.call("GET", `/v1/branches/all/diff?against=${branch}`, undefined, { token: bob })).status,
      403,
    );
  }
  const refused = await server.call("GET", "/v1/collections", undefined, as(bob, "some"));
  t.match(refused.body.error, {
    code: "forbidden",
    message: 'The user "bob-chosen" may not enter the branch "some".',
    details: { hint: /PATCH \/v1\/branches\/some/ },
  });
  const get = async (name: string) =>
    (await server.expect(200, "GET", `/v1/branches/${name}`, undefined, { token })).body.data;
  t.match(
    await get("child"),
    { users: ["ann-chosen"], keys: [key.api_key.id], policies: "tenant" },
    "as its origin has it",
  );
  t.match(await get("all"), { users: null, keys: null, policies: "tenant" });
  await server.kill();
  await server.boot();
  t.equal(await reads({ token: bob }, "some"), 403, "after a kill, too");
  await server.expect(200, "PATCH", "/v1/branches/some", { users: null }, { token });
  t.equal(await reads({ token: bob }, "some"), 200, "now all users may");
  t.equal(await reads(byKey(other), "some"), 403, "and the keys stay as they were");
  t.equal((await server.call("PATCH", "/v1/branches/some", { users: null }, { token: bob })).status, 403);
  t.equal((await server.call("POST", "/v1/branches", { name: "bad", users: [""] }, { token })).status, 400);
});

t.test("policies by choice", async (t) => {
  const token = await server.tenant("policed", ["super_admin"]);
  const clerk = await userOf("policed", "clerk-policed");
  await rows(token, "CREATE TABLE item (id int PRIMARY KEY, v text)");
  await rows(token, "INSERT INTO item VALUES (1, 'open'), (2, 'hidden')");
  await rows(token, "ALTER TABLE item ENABLE ROW LEVEL SECURITY");
  await rows(token, "CREATE POLICY opened ON item FOR SELECT USING (v = 'open')");
  await fork(token, { name: "strict" });
  await fork(token, { name: "own", policies: "branch" });
  const read = (branch: string) => server.sql("SELECT v FROM item", [], as(clerk, branch));
  t.equal((await read("strict")).status, 403, "a policy of the tenant keeps who it is for out of branches");
  t.same((await read("own")).body.data.rows, [["open"]], "the policies of the branch leave rows out");
  await rows(token, "DROP POLICY opened ON item", "own");
  await rows(token, "CREATE POLICY closed ON item FOR SELECT USING (v = 'hidden')", "own");
  t.same((await read("own")).body.data.rows, [["hidden"]], "they are the branch's own");
  t.same(await rows(clerk, "SELECT v FROM item"), [["open"]], "and the tenant's are as they were");
  t.equal((await server.call("GET", "/v1/branches/own/diff", undefined, { token: clerk })).status, 403);
  await server.expect(200, "PATCH", "/v1/branches/own", { policies: "tenant" }, { token });
  t.equal((await read("own")).status, 403);
});
