/** Verifiers of SCRAM: RFC 7677's example, when they are made, and what is told of users without one. */
import { pbkdf2Sync } from "node:crypto";
import t from "tap";
import { deriveKey } from "../../src/directory/derive-key.js";
import { read } from "../../src/directory/directory-context.js";
import { getUserByName, putUser } from "../../src/directory/directory-store.js";
import type { UserRecord } from "../../src/directory/records.js";
import { isProof, scramVerifiers, serverSignature } from "../../src/directory/scram.js";
import { ADMIN_PASSWORD, type Fixture, openDirectory, SECRET } from "./directory-fixture.js";

const verifiers = scramVerifiers({
  secret: SECRET,
  sealsNew: false,
  iterations: 4096,
  deriveKey: async (job) => deriveKey(job),
});
const sealing = scramVerifiers({
  secret: SECRET,
  sealsNew: true,
  iterations: 4096,
  deriveKey: async (job) => deriveKey(job),
});

/** RFC 7677, chapter 3. */
const EXAMPLE = {
  salt: Buffer.from("W22ZaJ0SNY7soEsUEjb6gQ==", "base64"),
  message: [
    "n=user,r=rOprNGfwEbeRWgbNEkqO",
    "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
    "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0",
  ].join(","),
  proof: Buffer.from("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=", "base64"),
  signature: "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
};

t.test("the example of RFC 7677", async (t) => {
  // As PostgreSQL 15 stores the password "pencil" with that salt.
  const stored =
    "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$" +
    "WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";
  const verifier = verifiers.open("u", stored)!;
  t.same(verifier.salt, EXAMPLE.salt);
  t.ok(isProof(verifier, EXAMPLE.message, EXAMPLE.proof));
  t.equal(serverSignature(verifier, EXAMPLE.message).toString("base64"), EXAMPLE.signature);
  t.notOk(isProof(verifier, `${EXAMPLE.message}x`, EXAMPLE.proof));
  t.notOk(isProof(verifier, EXAMPLE.message, EXAMPLE.proof.subarray(1)));
  t.same(
    pbkdf2Sync("pencil", EXAMPLE.salt, 4096, 32, "sha256"),
    deriveKey({ password: "pencil", salt: EXAMPLE.salt, cost: { iterations: 4096 }, length: 32 }),
  );
});

t.test("a verifier is sealed for its user where the installation's secret is sealed", async (t) => {
  const plain = await verifiers.make("u", "pencil");
  t.match(plain, /^SCRAM-SHA-256\$4096:/);
  const sealed = await sealing.make("u", "pencil");
  t.match(sealed, /^sealed:/);
  t.equal(sealing.open("u", sealed)!.iterations, 4096);
  t.equal(sealing.open("other", sealed), null);
  t.ok(sealing.isOutdated("other", sealed), "one that cannot be read is made anew");
  t.equal(sealing.open("u", plain)!.iterations, 4096, "those from before are read");
});

const userOf = ({ shard }: Fixture, username: string): UserRecord =>
  read({ begin: (readOnly) => shard.begin({ readOnly }) }, (tx) => getUserByName(tx, username))!;

/** As the user was before there were verifiers. */
function forgetVerifier(fixture: Fixture, username: string): void {
  const { scram: _, ...without } = userOf(fixture, username);
  const tx = fixture.shard.begin();
  putUser(tx, without);
  tx.commit();
}

t.test("a user from before gets a verifier at the first sign-in with the password", async (t) => {
  const fixture = await openDirectory();
  const { directory, signIn, reopen } = fixture;
  t.equal(directory.scramChallenge("admin")!.iterations, 15_000);
  forgetVerifier(fixture, "admin");
  t.equal(directory.scramChallenge("admin"), null, "the password itself is asked for");
  const proof = { auth_message: "", proof: Buffer.alloc(32).toString("base64"), remoteAddress: "192.0.2.1" };
  t.throws(() => directory.scramLogin({ username: "admin", ...proof }), { code: "invalid_credentials" });
  await t.rejects(signIn("admin", "wrong password"), { code: "invalid_credentials" });
  t.equal(directory.scramChallenge("admin"), null);
  await signIn("admin", ADMIN_PASSWORD);
  const first = directory.scramChallenge("admin")!;
  t.equal(first.iterations, 15_000);
  await signIn("admin", ADMIN_PASSWORD);
  t.same(directory.scramChallenge("admin"), first, "it stays");
  const stronger = reopen({ scramIterations: 20_000 });
  t.same(stronger.scramChallenge("admin"), first);
  await stronger.login({ username: "admin", password: ADMIN_PASSWORD, remoteAddress: "192.0.2.1" });
  t.equal(stronger.scramChallenge("admin")!.iterations, 20_000);
});

t.test("every way to set a password makes its verifier, and no list shows it", async (t) => {
  const fixture = await openDirectory();
  const { directory } = fixture;
  directory.createTenant({ id: "acme" });
  const made = await directory.createUser("acme", { username: "ada", password: "lovelace 1815" });
  const salts = [directory.scramChallenge("ada")!.salt];
  await directory.changePassword(made.id, "lovelace 1815", "byron 1788 and on");
  salts.push(directory.scramChallenge("ada")!.salt);
  await directory.resetUserPassword("acme", "ada", { password: "babbage 1791" });
  salts.push(directory.scramChallenge("ada")!.salt);
  t.equal(new Set(salts).size, 3);
  t.notMatch(JSON.stringify([directory.listUsers("acme"), directory.userById(made.id)]), /scram/i);
  t.match(userOf(fixture, "ada").scram, /^SCRAM-SHA-256\$15000:/);
});
