/** better-auth: its tables with plugins, users who sign up, sign in and out, an organization. */
import { betterAuth } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import { admin, organization, twoFactor } from "better-auth/plugins";
import pg from "pg";
import { equal, step } from "./steps.mjs";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const auth = betterAuth({
  secret: "a secret of the conformance run, 1x2Y3z",
  baseURL: "http://localhost:3000",
  database: pool,
  emailAndPassword: { enabled: true },
  plugins: [organization(), twoFactor(), admin()],
});
const person = { email: "alice@example.com", password: "correct-horse-battery" };
const headers = new Headers();

await step("migrations; a second run has nothing to do", async () => {
  await (await getMigrations(auth.options)).runMigrations();
  const { toBeCreated, toBeAdded } = await getMigrations(auth.options);
  equal([toBeCreated, toBeAdded], [[], []]);
});
await step("sign up, sign in, the session", async () => {
  await auth.api.signUpEmail({ body: { ...person, name: "Alice" } });
  const signedIn = await auth.api.signInEmail({ body: person, returnHeaders: true });
  const cookies = signedIn.headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
  headers.set("cookie", cookies.join("; "));
  equal((await auth.api.getSession({ headers })).user.email, person.email);
});
await step("an organization, sessions, sign out", async () => {
  await auth.api.createOrganization({ body: { name: "One", slug: "one" }, headers });
  equal(
    (await auth.api.listOrganizations({ headers })).map(({ slug }) => slug),
    ["one"],
  );
  equal((await auth.api.listSessions({ headers })).length, 2);
  await auth.api.signOut({ headers });
  equal(await auth.api.getSession({ headers }), null);
});
await pool.end();
