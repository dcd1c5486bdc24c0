/** A second factor from enrolment to removal, registration, and a changed password, over HTTP. */
import { TOTP } from "otpauth";
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.start({
  TESSERA_AUTH_REGISTRATION_ENABLED: "true",
  TESSERA_AUTH_REGISTRATION_TENANT: "guests",
});
t.teardown(() => server.stop());

await server.expect(201, "POST", "/admin/tenants", { id: "guests" });

const STEP_MS = 30_000;
const password = "a password of Mia";

t.test("enrol, sign in with a code, turn it off", async (t) => {
  await server.expect(
    201,
    "POST",
    "/v1/auth/register",
    { username: "mia", email: "mia@example.org", password },
    { token: null },
  );
  let token = await server.login("mia", password);
  const { secret, recovery_codes } = (await server.expect(200, "POST", "/v1/auth/mfa/enroll", undefined, { token }))
    .body.data;
  const code = (steps: number) => new TOTP({ secret }).generate({ timestamp: Date.now() + steps * STEP_MS });
  await server.expect(200, "POST", "/v1/auth/mfa/confirm", { code: code(0) }, { token });

  const challenge = (await server.expect(200, "POST", "/v1/auth/login", { username: "mia", password })).body;
  t.match(challenge, { mfa_required: true, mfa_token: String });
  t.notOk(challenge.access_token);
  const { mfa_token } = challenge;
  t.equal(
    (await server.call("GET", "/v1/users/me", undefined, { token: mfa_token })).status,
    401,
    "it is no access token",
  );
  t.equal((await server.call("POST", "/v1/auth/mfa/verify", { mfa_token, code: "000000" })).status, 401);
  const used = code(1);
  token = (await server.expect(200, "POST", "/v1/auth/mfa/verify", { mfa_token, code: used })).body.access_token;
  t.match((await server.expect(200, "GET", "/v1/users/me", undefined, { token })).body.data, {
    username: "mia",
    mfa_enabled: true,
  });

  const again = (await server.expect(200, "POST", "/v1/auth/login", { username: "mia", password })).body;
  t.equal(
    (await server.call("POST", "/v1/auth/mfa/verify", { mfa_token: again.mfa_token, code: used })).status,
    401,
    "a code works once",
  );
  const recovered = await server.expect(200, "POST", "/v1/auth/mfa/verify", {
    mfa_token: again.mfa_token,
    code: recovery_codes[0],
  });
  token = recovered.body.access_token;
  await server.expect(200, "POST", "/v1/auth/mfa/disable", { code: recovery_codes[1], password }, { token });
  t.ok(await server.login("mia", password));
});

t.test("a new password ends older tokens", async (t) => {
  const token = await server.login("mia", password);
  await server.expect(
    204,
    "POST",
    "/v1/auth/password",
    { current_password: password, new_password: "another password" },
    { token },
  );
  t.equal((await server.call("GET", "/v1/users/me", undefined, { token })).status, 401);
  t.equal((await server.call("POST", "/v1/auth/login", { username: "mia", password })).status, 401);
  t.ok(await server.login("mia", "another password"));
  const duplicate = await server.call("POST", "/v1/auth/register", {
    username: "MIA",
    email: "m@example.org",
    password,
  });
  t.match([duplicate.status, duplicate.body.error.message], [409, /already exists/]);
});

t.test("guessing is slowed down", async (t) => {
  let reply = await server.call(
    "POST",
    "/v1/auth/login",
    { username: "mia", password: "wrong guess" },
    { token: null },
  );
  for (let i = 0; i < 8 && reply.status === 401; i++) {
    reply = await server.call("POST", "/v1/auth/login", { username: "mia", password: "wrong guess" }, { token: null });
  }
  t.equal(reply.status, 429);
  t.ok(Number(reply.headers.get("retry-after")) >= 1);
});
