/** drizzle-orm's queries; drizzle-kit's push, a second push with changes, and introspection. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import pg from "pg";
import { equal, fails, matches, run, step } from "./steps.mjs";

mkdirSync("drizzle-files", { recursive: true });
const schema = (more) => `
import { relations, sql } from "drizzle-orm";
import { bigserial, boolean, check, index, integer, jsonb, numeric, pgEnum, pgTable, pgView, primaryKey, serial, text, timestamp, uniqueIndex, uuid, varchar } from "drizzle-orm/pg-core";
export const role = pgEnum("role", ["admin", "user"]);
export const users = pgTable("users", {
  id: serial("id").primaryKey(),
  name: varchar("name", { length: 80 }).notNull(),
  mail: text("mail").unique(),
  role: role("role").default("user"),
  data: jsonb("data"),
  tags: text("tags").array(),
  key: uuid("key").defaultRandom(),
  at: timestamp("at", { withTimezone: true }).defaultNow(),
  age: integer("age"),
  ${more}
}, (table) => [index("by_name").on(table.name), check("old", sql\`\${table.age} > 0\`)]);
export const posts = pgTable("posts", {
  id: bigserial("id", { mode: "number" }).primaryKey(),
  author: integer("author").notNull().references(() => users.id, { onDelete: "cascade" }),
  price: numeric("price", { precision: 8, scale: 2 }),
  done: boolean("done").default(false),
});
export const pairs = pgTable("pairs", { a: integer("a").notNull(), b: integer("b").notNull() }, (table) => [primaryKey({ columns: [table.a, table.b] })]);
export const names = pgView("names").as((query) => query.select({ name: users.name }).from(users));
export const userPosts = relations(users, ({ many }) => ({ posts: many(posts) }));
export const postAuthor = relations(posts, ({ one }) => ({ user: one(users, { fields: [posts.author], references: [users.id] }) }));
`;
const config = {
  dialect: "postgresql",
  schema: "./drizzle-files/schema.mjs",
  out: "./drizzle-files/out",
  dbCredentials: { url: process.env.DATABASE_URL },
};
writeFileSync("drizzle-files/config.json", JSON.stringify(config));
const kit = (...words) => {
  const { output, errors } = run(
    "npx",
    ["--no-install", "drizzle-kit", ...words, "--config", "drizzle-files/config.json"],
    { env: { CI: "1", NO_COLOR: "1" }, mayFail: true },
  );
  // Without the frames of its spinners.
  return (output + errors)
    .split("\n")
    .filter((line) => !/\[[\u2800-\u28ff]\]/u.test(line))
    .join("\n");
};

await step("drizzle-kit push makes the schema", () => {
  writeFileSync("drizzle-files/schema.mjs", schema(""));
  matches(kit("push", "--force"), /Changes applied/);
});
await step("a second push finds no changes", () => matches(kit("push", "--force"), /No changes detected/));
const client = new pg.Client();
await client.connect();
await step("queries: insert, relations, transaction, error", async () => {
  const tables = await import("./drizzle-files/schema.mjs");
  const db = drizzle(client, { schema: tables });
  const values = { name: "Dan", mail: "d@example.org", data: { a: 1 }, tags: ["x"], age: 3 };
  const [{ id }] = await db.insert(tables.users).values(values).returning({ id: tables.users.id });
  await db.insert(tables.posts).values([{ author: id, price: "1.50" }, { author: id }]);
  const found = await db.query.users.findMany({ with: { posts: true }, where: eq(tables.users.id, id) });
  equal([found[0].posts.length, found[0].posts[0].price, found[0].tags, found[0].role], [2, "1.5", ["x"], "user"]);
  await fails(
    db.transaction((trx) => trx.insert(tables.users).values(values)),
    "23505",
  );
  await db
    .insert(tables.users)
    .values(values)
    .onConflictDoUpdate({ target: tables.users.mail, set: { age: sql`excluded.age + 1` } });
  equal((await db.select().from(tables.users))[0].age, 4);
  equal(await db.select().from(tables.names), [{ name: "Dan" }]);
});
await client.end();
await step("a push that adds and changes columns", () => {
  writeFileSync(
    "drizzle-files/schema.mjs",
    schema('score: integer("score").default(5).notNull(),').replace("precision: 8", "precision: 10"),
  );
  matches(kit("push", "--force"), /Changes applied/);
  matches(kit("push", "--force"), /No changes detected/);
});
await step("drizzle-kit introspect gives the schema back", () => {
  kit("introspect");
  const text = readFileSync("drizzle-files/out/schema.ts", "utf8");
  for (const part of [
    /pgEnum\("role", \['admin', 'user'\]\)/,
    /name: varchar\(\{ length: 80 \}\)\.notNull\(\)/,
    /tags: text\(\)\.array\(\)/,
    /foreignColumns: \[users\.id\],\n\t+name: "posts_author_users_id_fk"\n\t+\}\)\.onDelete\("cascade"\)/,
    /index\("by_name"\)\.using\("btree"/,
    /unique\("users_mail_unique"\)/,
    /pgView\("names"/,
  ])
    matches(text, part);
});
await step("drizzle-kit generate and migrate", () => {
  kit("generate", "--name", "first");
});
