/** Prisma: the schema that its migrations make; its client's nested writes, filters, aggregates, transactions. */
import { createRequire } from "node:module";
import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { equal, run, step } from "./steps.mjs";

const connection = { connectionString: process.env.DATABASE_URL };
const command = (...words) =>
  run(process.execPath, ["node_modules/prisma/build/index.js", ...words], { env: { CHECKPOINT_DISABLE: "1" } }).output;
const codeOf = (promise) =>
  promise.then(
    () => "none",
    ({ code, message }) => code ?? message,
  );
let prisma;

await step("generate, migrate diff as SQL that is run", async () => {
  command("generate");
  const more = ["--from-empty", "--to-schema-datamodel", "prisma/schema.prisma", "--script"];
  const client = new pg.Client(connection);
  await client.connect();
  await client.query(command("migrate", "diff", ...more));
  await client.end();
  const { PrismaClient } = createRequire(import.meta.url)("@prisma/client");
  prisma = new PrismaClient({ adapter: new PrismaPg(connection) });
});
await step("nested create, findMany with include", async () => {
  const categories = { create: [{ name: "c1", raw: Buffer.from("hi") }, { name: "c2" }] };
  const post = { title: "Hello World", tags: ["a", "b"], data: { x: [1] }, views: 9007199254740993n, score: "1.50" };
  await prisma.user.create({
    data: {
      name: "Alice",
      email: "alice@prisma.io",
      posts: { create: { ...post, categories } },
      profile: { create: { bio: "I like turtles" } },
    },
  });
  const include = { posts: { include: { categories: { orderBy: { name: "asc" } } } }, profile: true };
  const [{ posts, profile, role }] = await prisma.user.findMany({ include });
  const [{ title, tags, data, views, score, categories: found }] = posts;
  equal([title, tags, data, role, profile.bio], [post.title, post.tags, post.data, "USER", "I like turtles"]);
  equal([String(views), String(score), Buffer.from(found[0].raw).toString()], ["9007199254740993", "1.5", "hi"]);
  equal(
    found.map(({ name }) => name),
    ["c1", "c2"],
  );
});
await step("update, upsert, createMany", async () => {
  const data = { published: true, tags: { push: "c" }, views: { increment: 1 } };
  equal((await prisma.post.update({ where: { id: 1 }, data })).tags, ["a", "b", "c"]);
  for (const name of ["Bob", "Bobby"]) {
    const email = "bob@prisma.io";
    await prisma.user.upsert({ where: { email }, create: { email, role: "ADMIN" }, update: { name } });
  }
  equal((await prisma.user.findUnique({ where: { email: "bob@prisma.io" } })).name, "Bobby");
  const users = ["x", "x", "y"].map((email) => ({ email }));
  equal((await prisma.user.createMany({ data: users, skipDuplicates: true })).count, 2);
  equal((await prisma.user.createManyAndReturn({ data: [{ email: "z" }] })).length, 1);
});
await step("filters of relations, arrays, JSON and enums; pages", async () => {
  const post = { tags: { has: "c" }, data: { path: ["x"], array_contains: [1] } };
  equal(await prisma.post.count({ where: post }), 1);
  const user = { email: { contains: "PRISMA", mode: "insensitive" }, posts: { some: { published: true } } };
  equal((await prisma.user.findMany({ where: user })).length, 1);
  const select = { email: true, _count: { select: { posts: true } } };
  equal(await prisma.user.findMany({ where: { posts: { none: {} }, role: "ADMIN" }, select }), [
    { email: "bob@prisma.io", _count: { posts: 0 } },
  ]);
  const orderBy = [{ name: { sort: "desc", nulls: "last" } }, { email: "asc" }];
  const page = await prisma.user.findMany({ orderBy, cursor: { id: 1 }, skip: 1, take: 2 });
  equal(
    page.map(({ email }) => email),
    ["x", "y"],
  );
});
await step("groupBy and aggregate", async () => {
  equal(await prisma.user.groupBy({ by: ["role"], _count: { _all: true }, orderBy: { role: "asc" } }), [
    { _count: { _all: 4 }, role: "USER" },
    { _count: { _all: 1 }, role: "ADMIN" },
  ]);
  const { _sum, _avg } = await prisma.post.aggregate({ _sum: { views: true }, _avg: { score: true } });
  equal([String(_sum.views), String(_avg.score)], ["9007199254740994", "1.5"]);
});
await step("errors of constraints, transactions, raw queries", async () => {
  equal(await codeOf(prisma.user.create({ data: { email: "x" } })), "P2002");
  equal(await codeOf(prisma.profile.create({ data: { bio: "b", userId: 999 } })), "P2003");
  equal(await codeOf(prisma.user.delete({ where: { id: 999 } })), "P2025");
  await prisma.$transaction((tx) => tx.user.delete({ where: { email: "x" } }), { isolationLevel: "Serializable" });
  const failing = prisma.$transaction(async (tx) => {
    await tx.profile.deleteMany();
    throw new Error("no");
  });
  equal(await codeOf(failing), "no");
  equal([await prisma.user.count(), await prisma.profile.count()], [4, 1]);
  const found =
    await prisma.$queryRaw`SELECT ${1}::int AS a, count(*) AS n FROM "User" WHERE email = ANY(${["y", "z"]})`;
  equal([found[0].a, String(found[0].n)], [1, "2"]);
  equal(await prisma.$executeRaw`UPDATE "User" SET name = ${"N"} WHERE id > ${0}`, 4);
  await prisma.$transaction([prisma.user.deleteMany({ where: { email: "z" } }), prisma.post.deleteMany()]);
});
await prisma.$disconnect();
