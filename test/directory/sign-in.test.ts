import { createHmac } from "node:crypto";
import t from "tap";
import { loadConfig } from "../../src/config/load-config.js";
import { deriveKey } from "../../src/directory/derive-key.js";
import { Directory } from "../../src/directory/directory.js";
import { verifyAccessToken } from "../../src/protocol/access-token.js";
import { DbError } from "../../src/protocol/errors.js";
import { ADMIN_PASSWORD, HOUR, openDirectory, openShard, SECOND, SECRET } from "./directory-fixture.js";

const from = "192.0.2.1";

t.test("the first boot makes the administrator with a random password; later boots make nothing", async (t) => {
  const shard = await openShard();
  const open = () =>
    new Directory({
      begin: (readOnly) => shard.begin({ readOnly }),
      deriveKey: async (job) => deriveKey(job),
      now: () => 1_700_000_000_000,
      secret: SECRET,
      config: loadConfig({ env: {} }).auth,
      partitions: 2,
      onIdentityChanged: () => {},
    });
  const first = await open().bootstrap({});
  t.ok(first !== null && first.password.length >= 16);
  const again = open();
  t.equal(await again.bootstrap({}), null);
  t.equal(await again.bootstrap({ adminPassword: "another password" }), null);
  const answer = await again.login({ username: "admin", password: first!.password, remoteAddress: from });
  t.match(answer, { user: { username: "admin", tenant_id: "system", company_id: "system" } });
  t.match(again.getTenant("system"), { partition: 0, is_active: true });
  t.equal(again.tenantOfNumber(1)?.id, "system");
});

t.test("a first boot with the operator's password prints none and takes it", async (t) => {
  const { directory, reopen } = await openDirectory();
  t.equal(await reopen().bootstrap({}), null);
  t.match(await directory.login({ username: "admin", password: ADMIN_PASSWORD, remoteAddress: from }), {
    token_type: "Bearer",
  });
});

t.test("signing in gives a token with the user's claims and the user's record", async (t) => {
  const { directory, clock, signIn } = await openDirectory();
  directory.createTenant({ id: "acme" });
  const user = await directory.createUser("acme", {
    username: "Ada",
    password: "lovelace 1815",
    email: "a@example.com",
  });
  t.equal(user.last_login, null);
  clock.now += 5 * SECOND;
  const answer = await signIn("ada", "lovelace 1815");
  t.equal(answer.expires_in, 3600);
  t.same(answer.user, { ...user, last_login: new Date(clock.now).toISOString() });
  t.same(Object.keys(answer.user).sort(), [
    "company_id",
    "created_at",
    "email",
    "id",
    "is_active",
    "is_verified",
    "last_login",
    "mfa_enabled",
    "roles",
    "tenant_id",
    "username",
  ]);
  const claims = verifyAccessToken(SECRET, { now: () => clock.now })(answer.access_token);
  const iat = Math.floor(clock.now / 1000);
  t.same(claims, {
    sub: user.id,
    username: "Ada",
    tenant_id: "acme",
    company_id: "acme",
    roles: ["user"],
    epoch: 0,
    iat,
    exp: iat + 3600,
  });
  t.equal(directory.userById(user.id).last_login, answer.user.last_login);
});

t.test("a wrong password and an unknown user cannot be told apart", async (t) => {
  const { directory } = await openDirectory();
  const errors = await Promise.all(
    ["admin", "nobody", "x".repeat(1000)].map((username) =>
      directory.login({ username, password: "wrong password", remoteAddress: from }).catch((error: DbError) => error),
    ),
  );
  for (const error of errors) {
    t.match(error, { code: "invalid_credentials", status: 401 });
    t.equal((error as DbError).message, (errors[0] as DbError).message);
  }
  await t.rejects(
    directory.login({ username: "admin", password: "p".repeat(100_000), remoteAddress: from }),
    { code: "invalid_credentials" },
    "a huge password is refused without work",
  );
});

t.test("one password in two Unicode forms is one password", async (t) => {
  const { directory, signIn } = await openDirectory();
  await directory.createUser("system", { username: "zoe", password: "cafe\u0301 au lait" });
  await t.resolves(signIn("zoe", "caf\u00e9 au lait"));
});

t.test("disabled users and users of disabled tenants cannot sign in", async (t) => {
  const { directory, signIn } = await openDirectory();
  directory.createTenant({ id: "acme" });
  await directory.createUser("acme", { username: "ada", password: "lovelace 1815" });
  directory.setUserActive("acme", "ada", false);
  await t.rejects(signIn("ada", "lovelace 1815"), { code: "forbidden", message: /permission/ });
  await t.rejects(signIn("ada", "wrong password"), { code: "invalid_credentials" });
  directory.setUserActive("acme", "ada", true);
  directory.updateTenant("acme", { isActive: false });
  await t.rejects(signIn("ada", "lovelace 1815"), { code: "forbidden", message: /"acme" is disabled/ });
  directory.updateTenant("acme", { isActive: true });
  await t.resolves(signIn("ada", "lovelace 1815"));
});

t.test("a user that is disabled or changed while its password is checked does not get in", async (t) => {
  const { directory, signIn } = await openDirectory();
  await directory.createUser("system", { username: "ada", password: "lovelace 1815" });
  const first = signIn("ada", "lovelace 1815");
  directory.setUserActive("system", "ada", false);
  await t.rejects(first, { code: "forbidden" });
  directory.setUserActive("system", "ada", true);
  const second = signIn("ada", "lovelace 1815");
  directory.deleteUser("system", "ada");
  await t.rejects(second, { code: "invalid_credentials" });
});

t.test("forged, foreign and expired tokens are refused", async (t) => {
  const { clock, signIn } = await openDirectory();
  const verify = verifyAccessToken(SECRET, { now: () => clock.now });
  const { access_token: token } = await signIn("admin", ADMIN_PASSWORD);
  const [header, payload, signature] = token.split(".") as [string, string, string];
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
  const signed = (head: object, body: object, secret: Uint8Array = SECRET, hash = "sha256") => {
    const text = `${encoded(head)}.${encoded(body)}`;
    return `${text}.${createHmac(hash, secret).update(text).digest("base64url")}`;
  };
  const HS256 = { alg: "HS256", typ: "JWT" };

  t.equal(verify(signed(HS256, claims)).sub, claims.sub, "this is how a right one is made");
  const refused: Record<string, string> = {
    "alg none without a signature": `${encoded({ alg: "none", typ: "JWT" })}.${payload}.`,
    "alg none with the old signature": `${encoded({ alg: "none", typ: "JWT" })}.${payload}.${signature}`,
    "another algorithm with the right secret": signed({ alg: "HS512", typ: "JWT" }, claims, SECRET, "sha512"),
    "another secret": signed(HS256, claims, new Uint8Array(32).fill(8)),
    "a changed company": `${header}.${encoded({ ...claims, company_id: "acme" })}.${signature}`,
    "another audience": signed(HS256, { ...claims, aud: "tessera:mfa" }),
    "another issuer": signed(HS256, { ...claims, iss: "elsewhere" }),
    "no signature": `${header}.${payload}.`,
    "not a token": "abc",
    nothing: "",
    "a very long text": "x".repeat(1_000_000),
  };
  for (const [name, forged] of Object.entries(refused)) {
    t.throws(() => verify(forged), { code: "unauthorized", status: 401 }, name);
  }
  for (const claim of ["aud", "iss", "sub", "tenant_id", "company_id", "roles", "epoch", "exp"]) {
    t.throws(() => verify(signed(HS256, { ...claims, [claim]: undefined })), { code: "missing_claims" }, claim);
  }

  t.equal(verify(token).sub, claims.sub);
  clock.now += HOUR - SECOND;
  t.equal(verify(token).sub, claims.sub, "just before its end");
  clock.now += SECOND;
  t.throws(() => verify(token), { code: "unauthorized", message: /expired/ }, "also when it was verified before");
  t.throws(() => verify(token), { code: "unauthorized" });
});

t.test("the verifier goes on working when its cache is full", async (t) => {
  const { directory, clock, signIn } = await openDirectory();
  const verify = verifyAccessToken(SECRET, { now: () => clock.now, cacheEntriesMax: 2 });
  for (const username of ["ada", "bob", "cy"])
    await directory.createUser("system", { username, password: "password 1" });
  const tokens = [];
  for (const username of ["ada", "bob", "cy"]) tokens.push((await signIn(username, "password 1")).access_token);
  for (const token of [...tokens, ...tokens]) t.equal(verify(token).exp * 1000, clock.now + HOUR);
});

t.test("changing the password revokes the tokens given out before", async (t) => {
  const { directory, changes, signIn } = await openDirectory();
  const { id } = await directory.createUser("system", { username: "ada", password: "lovelace 1815" });
  const epoch = directory.identityOfUser(id)!.tokenEpoch;
  await t.rejects(directory.changePassword(id, "wrong password", "analytical engine"), { code: "invalid_credentials" });
  await t.rejects(directory.changePassword(id, "lovelace 1815", "short"), {
    code: "invalid_request",
    message: /8 char/,
  });
  await t.rejects(directory.changePassword(id, "lovelace 1815", "é".repeat(600)), { message: /1024 bytes/ });
  t.equal(changes.length, 0);
  await directory.changePassword(id, "lovelace 1815", "analytical engine");
  t.match(changes, [{ kind: "user", userId: id }]);
  const identity = directory.identityOfUser(id)!;
  t.not(identity.tokenEpoch, epoch);
  t.ok(identity.version >= changes[0]!.version);
  await t.rejects(signIn("ada", "lovelace 1815"), { code: "invalid_credentials" });
  await t.resolves(signIn("ada", "analytical engine"));
});

t.test("registration is off unless configured", async (t) => {
  const { directory } = await openDirectory();
  const request = { username: "ada", email: "ada@example.com", password: "lovelace 1815" };
  await t.rejects(directory.register(request), { code: "forbidden", message: /permission/ });
});

t.test("who registers becomes an unverified plain user of the configured tenant", async (t) => {
  const { directory, signIn } = await openDirectory({
    TESSERA_AUTH_REGISTRATION_ENABLED: "true",
    TESSERA_AUTH_REGISTRATION_TENANT: "public",
  });
  const request = { username: "ada", email: "ada@example.com", password: "lovelace 1815" };
  await t.rejects(directory.register(request), { code: "tenant_not_found", message: /"public" does not exist/ });
  directory.createTenant({ id: "public" });
  const asked = { ...request, roles: ["super_admin"], tenantId: "system", companyId: "system" };
  t.match(await directory.register(asked), {
    tenant_id: "public",
    company_id: "public",
    roles: ["user"],
    is_verified: false,
  });
  await t.rejects(directory.register({ ...request, username: "ADA" }), { code: "conflict", message: /already exists/ });
  await t.rejects(directory.register({ ...request, username: "bob", email: "no address" }), {
    code: "invalid_request",
  });
  t.match((await signIn("ada", "lovelace 1815")).user, { email: "ada@example.com" });
});

t.test("guessing is slowed down per username and address", async (t) => {
  const { directory, clock, signIn } = await openDirectory();
  const guess = (username = "admin", remoteAddress = from) =>
    directory.login({ username, password: "wrong password", remoteAddress }).catch((error: DbError) => error);
  for (let i = 0; i < 5; i++) t.match(await guess(), { code: "invalid_credentials" });
  t.match(await guess("ADMIN"), { code: "rate_limited", status: 429, details: { retry_after_seconds: 2 } });
  await t.rejects(signIn("admin", ADMIN_PASSWORD), { code: "rate_limited" }, "the right password has to wait as well");
  t.match(await guess("admin", "192.0.2.9"), { code: "invalid_credentials" }, "another address does not");
  t.match(await guess("nobody"), { code: "invalid_credentials" }, "another name does not");
  clock.now += 2 * SECOND;
  await t.resolves(signIn("admin", ADMIN_PASSWORD));
  t.match(await guess(), { code: "invalid_credentials" }, "success wipes the slate");
});

t.test("a burst of parallel guesses does not get past the limit", async (t) => {
  const { directory } = await openDirectory();
  const guesses = Array.from({ length: 50 }, () =>
    directory
      .login({ username: "admin", password: "wrong password", remoteAddress: from })
      .catch((e: DbError) => e.code),
  );
  const codes = await Promise.all(guesses);
  t.equal(codes.filter((code) => code === "invalid_credentials").length, 5);
  t.equal(codes.filter((code) => code === "rate_limited").length, 45);
});

t.test("a sign-in that is turned away for lack of room counts as no failure", async (t) => {
  let busy = false;
  const { directory } = await openDirectory(
    {},
    {
      deriveKey: async (job) => {
        if (busy) throw new DbError("overloaded");
        return deriveKey(job);
      },
    },
  );
  const attempt = () => directory.login({ username: "admin", password: ADMIN_PASSWORD, remoteAddress: "192.0.2.1" });
  busy = true;
  for (let i = 0; i < 20; i++) await t.rejects(attempt(), { code: "overloaded" });
  busy = false;
  await t.resolves(attempt());
});
