/** Auth.js (NextAuth): its adapter on its own tables: a user, an account, a session, a token of a sign-in by mail. */
import PostgresAdapter from "@auth/pg-adapter";
import pg from "pg";
import { equal, step } from "./steps.mjs";

const TABLES = `
CREATE TABLE verification_token (identifier TEXT NOT NULL, expires TIMESTAMPTZ NOT NULL, token TEXT NOT NULL,
  PRIMARY KEY (identifier, token));
CREATE TABLE accounts (id SERIAL, "userId" INTEGER NOT NULL, type VARCHAR(255) NOT NULL, provider VARCHAR(255) NOT NULL,
  "providerAccountId" VARCHAR(255) NOT NULL, refresh_token TEXT, access_token TEXT, expires_at BIGINT, id_token TEXT,
  scope TEXT, session_state TEXT, token_type TEXT, PRIMARY KEY (id));
CREATE TABLE sessions (id SERIAL, "userId" INTEGER NOT NULL, expires TIMESTAMPTZ NOT NULL,
  "sessionToken" VARCHAR(255) NOT NULL, PRIMARY KEY (id));
CREATE TABLE users (id SERIAL, name VARCHAR(255), email VARCHAR(255), "emailVerified" TIMESTAMPTZ, image TEXT,
  PRIMARY KEY (id));`;
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const adapter = PostgresAdapter(pool);
const expires = new Date(Date.now() + 3_600_000);
const account = { provider: "github", providerAccountId: "77" };
let user = null;

await step("the tables; an empty schema first", async () => {
  await pool.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
  await pool.query(TABLES);
});
await step("a user and an account", async () => {
  user = await adapter.createUser({ name: "Ann", email: "ann@example.com", emailVerified: expires, image: null });
  equal((await adapter.getUserByEmail("ann@example.com")).id, user.id);
  await adapter.linkAccount({ ...account, userId: user.id, type: "oauth", expires_at: 1_700_000_000 });
  equal((await adapter.getUserByAccount(account)).id, user.id);
  equal((await adapter.updateUser({ id: user.id, name: "Anna" })).name, "Anna");
});
await step("a session, a token that serves once", async () => {
  await adapter.createSession({ userId: user.id, sessionToken: "one", expires });
  equal((await adapter.getSessionAndUser("one")).user.name, "Anna");
  await adapter.createVerificationToken({ identifier: "ann@example.com", token: "t", expires });
  equal((await adapter.useVerificationToken({ identifier: "ann@example.com", token: "t" })).token, "t");
  equal(await adapter.useVerificationToken({ identifier: "ann@example.com", token: "t" }), null);
});
await step("the end of all of them", async () => {
  await adapter.unlinkAccount(account);
  await adapter.deleteSession("one");
  await adapter.deleteUser(user.id);
  equal(await adapter.getUser(user.id), null);
});
await pool.end();
