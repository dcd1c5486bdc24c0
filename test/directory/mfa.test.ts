import { Secret, TOTP } from "otpauth";
import t from "tap";
import { useTimeCode } from "../../src/directory/one-time-code.js";
import type { MfaRecord } from "../../src/directory/records.js";
import { verifyAccessToken } from "../../src/protocol/access-token.js";
import type { MfaRequired } from "../../src/protocol/accounts.js";
import type { DbError } from "../../src/protocol/errors.js";
import { openDirectory, SECOND, SECRET } from "./directory-fixture.js";

const from = "192.0.2.1";
const password = "lovelace 1815";

t.test("codes are those of RFC 6238, appendix B", async (t) => {
  const mfa: MfaRecord = {
    secret: Secret.fromLatin1("12345678901234567890").base32,
    enabled: true,
    lastUsedStep: 0,
    recoveryCodeHashes: [],
  };
  // Seconds and the eight digits of the SHA-1 column; six-digit codes are their last six.
  const vectors: [number, string][] = [
    [59, "94287082"],
    [1_111_111_109, "07081804"],
    [1_111_111_111, "14050471"],
    [1_234_567_890, "89005924"],
    [2_000_000_000, "69279037"],
    [20_000_000_000, "65353130"],
  ];
  for (const [seconds, digits] of vectors) {
    const used = useTimeCode(mfa, digits.slice(-6), seconds * SECOND);
    t.equal(used?.lastUsedStep, Math.floor(seconds / 30), digits);
  }
});

t.test("a code counts one step early and late, and once", async (t) => {
  const now = 1_700_000_010_000;
  const secret = new Secret();
  const code = (offsetSteps: number) => TOTP.generate({ secret, timestamp: now + offsetSteps * 30 * SECOND });
  const mfa: MfaRecord = { secret: secret.base32, enabled: true, lastUsedStep: 0, recoveryCodeHashes: [] };
  for (const offset of [-1, 0, 1]) t.ok(useTimeCode(mfa, code(offset), now), `offset ${offset}`);
  for (const offset of [-2, 2]) t.equal(useTimeCode(mfa, code(offset), now), null, `offset ${offset}`);
  const used = useTimeCode(mfa, code(0), now)!;
  t.equal(useTimeCode(used, code(0), now), null, "again");
  t.equal(useTimeCode(used, code(-1), now), null, "an older one");
  t.ok(useTimeCode(used, code(1), now), "the next one");
  for (const garbage of ["", "12345", "1234567", "abcdef", "１２３４５６"])
    t.equal(useTimeCode(mfa, garbage, now), null);
});

/** A user with an authenticator; `code` is what it shows. */
async function enrolled() {
  const fixture = await openDirectory();
  const { directory, clock } = fixture;
  const { id } = await directory.createUser("system", { username: "ada", password });
  const enrolment = directory.enrolMfa(id);
  const code = () => TOTP.generate({ secret: Secret.fromBase32(enrolment.secret), timestamp: clock.now });
  const nextCode = () => {
    clock.now += 30 * SECOND;
    return code();
  };
  const login = () => directory.login({ username: "ada", password, remoteAddress: from });
  const challenge = async () => ((await login()) as MfaRequired).mfa_token;
  return { ...fixture, id, enrolment, code, nextCode, login, challenge };
}

t.test("enrolment shows what an authenticator needs, and counts only when confirmed", async (t) => {
  const { directory, id, enrolment, code, login } = await enrolled();
  const url = new URL(enrolment.otpauth_url);
  t.equal(url.protocol, "otpauth:");
  t.equal(url.searchParams.get("secret"), enrolment.secret);
  t.equal(url.searchParams.get("issuer"), "Tessera");
  t.equal(new Set(enrolment.recovery_codes).size, 10);
  t.match(await login(), { token_type: "Bearer", user: { mfa_enabled: false } });
  t.throws(() => directory.confirmMfa(id, enrolment.recovery_codes[0]!), { code: "invalid_credentials" });
  t.equal(directory.confirmMfa(id, code()).mfa_enabled, true);
  t.throws(() => directory.enrolMfa(id), { code: "conflict", message: /already exists/ });
  t.throws(() => directory.confirmMfa(id, code()), { code: "conflict" });
});

t.test("with a second factor, signing in takes two steps", async (t) => {
  const { directory, clock, id, code, nextCode, login, challenge } = await enrolled();
  directory.confirmMfa(id, code());
  const first = await login();
  t.match(first, { mfa_required: true, expires_in: 300 });
  t.notOk("access_token" in first);
  const { mfa_token } = first as MfaRequired;

  t.throws(() => directory.verifyMfa({ mfa_token, code: code(), remoteAddress: from }), /already used/);
  const right = nextCode();
  const answer = directory.verifyMfa({ mfa_token, code: right, remoteAddress: from });
  t.match(answer, { token_type: "Bearer", expires_in: 3600, user: { username: "ada", mfa_enabled: true } });
  t.equal(verifyAccessToken(SECRET, { now: () => clock.now })(answer.access_token).sub, id);
  const again = await challenge();
  t.throws(() => directory.verifyMfa({ mfa_token: again, code: right, remoteAddress: from }), {
    code: "invalid_credentials",
  });
});

t.test("neither kind of token passes as the other", async (t) => {
  const { directory, clock, id, code, nextCode, challenge, login } = await enrolled();
  const { access_token } = (await login()) as { access_token: string };
  directory.confirmMfa(id, code());
  const mfa_token = await challenge();
  t.throws(() => verifyAccessToken(SECRET, { now: () => clock.now })(mfa_token), { code: "unauthorized" });
  t.throws(() => directory.verifyMfa({ mfa_token: access_token, code: nextCode(), remoteAddress: from }), {
    code: "unauthorized",
  });
  t.throws(() => directory.verifyMfa({ mfa_token: "abc", code: code(), remoteAddress: from }), {
    code: "unauthorized",
  });
});

t.test("the token between the steps lives five minutes and dies with the password", async (t) => {
  const { directory, clock, id, code, nextCode, challenge } = await enrolled();
  directory.confirmMfa(id, code());
  const late = await challenge();
  clock.now += 300 * SECOND;
  t.throws(() => directory.verifyMfa({ mfa_token: late, code: nextCode(), remoteAddress: from }), {
    code: "unauthorized",
  });
  const revoked = await challenge();
  await directory.resetUserPassword("system", "ada", { password: "analytical engine" });
  t.throws(() => directory.verifyMfa({ mfa_token: revoked, code: nextCode(), remoteAddress: from }), {
    code: "unauthorized",
  });
});

t.test("a recovery code works once", async (t) => {
  const { directory, id, enrolment, code, challenge } = await enrolled();
  directory.confirmMfa(id, code());
  const [first, second] = enrolment.recovery_codes as [string, string];
  const mfa_token = await challenge();
  t.ok(directory.verifyMfa({ mfa_token, code: first.toUpperCase().replace("-", " "), remoteAddress: from }));
  t.throws(() => directory.verifyMfa({ mfa_token, code: first, remoteAddress: from }), { code: "invalid_credentials" });
  t.ok(directory.verifyMfa({ mfa_token, code: second, remoteAddress: from }));
});

t.test("codes cannot be guessed from many addresses", async (t) => {
  const { directory, clock, id, code, nextCode, challenge } = await enrolled();
  directory.confirmMfa(id, code());
  const mfa_token = await challenge();
  const guess = (i: number) => {
    try {
      directory.verifyMfa({ mfa_token, code: "xxxxxx", remoteAddress: `192.0.2.${i}` });
    } catch (error) {
      return (error as DbError).code;
    }
    return "in";
  };
  const codes = Array.from({ length: 20 }, (_, i) => guess(i));
  t.same(codes, [...Array(5).fill("invalid_credentials"), ...Array(15).fill("rate_limited")]);
  clock.now += 2 * SECOND;
  t.ok(directory.verifyMfa({ mfa_token, code: nextCode(), remoteAddress: from }));
});

t.test("removing the second factor needs the password and a code", async (t) => {
  const { directory, id, code, nextCode, login } = await enrolled();
  await t.rejects(directory.disableMfa(id, { code: code(), password }), { code: "invalid_request" }, "not enabled yet");
  directory.confirmMfa(id, code());
  await t.rejects(directory.disableMfa(id, { code: nextCode(), password: "wrong password" }), {
    code: "invalid_credentials",
  });
  await t.rejects(directory.disableMfa(id, { code: "000000x", password }), { code: "invalid_credentials" });
  t.equal((await directory.disableMfa(id, { code: nextCode(), password })).mfa_enabled, false);
  t.match(await login(), { token_type: "Bearer" });
});

t.test("an administrator can remove the second factor of who lost it", async (t) => {
  const { directory, id, code } = await enrolled();
  directory.confirmMfa(id, code());
  const kept = await directory.resetUserPassword("system", "ada");
  t.equal(kept.user.mfa_enabled, true);
  const { password: made, user } = await directory.resetUserPassword("system", "ada", { clearMfa: true });
  t.equal(user.mfa_enabled, false);
  t.match(await directory.login({ username: "ada", password: made!, remoteAddress: from }), { token_type: "Bearer" });
});
