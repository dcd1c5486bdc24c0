/**
 * Random documents, filters and bodies. No answer is a 5xx; a filter finds the same with indexes as without; a filter
 * and its negation part the documents between them. DOCUMENT_FILTERS sets how many.
 */
import t from "tap";
import { randomFrom } from "../fuzz/random.js";
import { tries } from "../lengths.js";
import { TestServer } from "./server.js";

const FILTERS = tries(60);

const server = await TestServer.shared();
t.teardown(() => server.stop());

const seed = Number(process.env.DOCUMENT_SEED ?? 7);
const random = randomFrom(seed);
const below = (n: number): number => Math.floor(random() * n);
const one = <T>(items: readonly T[]): T => items[below(items.length)]!;

const NAMES = ["a", "b", "c", "unscaled", "0", "__proto__", "x y", "toString"];
const SCALARS = [0, 1, 2, -1.5, 1e300, "", "1", "a", "é", "a'b\\\"c", true, false, null];

function value(depth: number): unknown {
  const kind = below(depth > 2 ? 3 : 6);
  if (kind < 3) return one(SCALARS);
  if (kind < 5) return Array.from({ length: below(4) }, () => value(depth + 1));
  return Object.fromEntries(Array.from({ length: below(4) }, () => [one(NAMES), value(depth + 1)]));
}

const document = (): object => Object.fromEntries(NAMES.filter(() => random() < 0.6).map((name) => [name, value(0)]));
const path = (): string => Array.from({ length: 1 + below(3) }, () => one(NAMES)).join(".");

function operand(depth: number): unknown {
  if (random() < 0.4) return value(1);
  const operators: [string, () => unknown][] = [
    ["$eq", () => value(1)],
    ["$ne", () => value(1)],
    ["$gt", () => one(SCALARS)],
    ["$gte", () => one(SCALARS)],
    ["$lt", () => one(SCALARS)],
    ["$lte", () => one(SCALARS)],
    ["$in", () => Array.from({ length: below(4) }, () => value(2))],
    ["$nin", () => Array.from({ length: below(4) }, () => value(2))],
    ["$exists", () => one([true, false])],
    ["$contains", () => value(2)],
    ["$all", () => Array.from({ length: below(3) }, () => value(2))],
    ["$size", () => below(4)],
    ["$like", () => one(["%a%", "_", ""])],
    ["$regex", () => one(["a", "^$", "[[:digit:]]"])],
    ["$not", () => operand(depth + 1)],
    ["$elemMatch", () => (random() < 0.5 ? filter(depth + 1) : { $gt: one(SCALARS) })],
    ["$near", () => 1],
  ];
  return Object.fromEntries(
    Array.from({ length: 1 + below(2) }, () => {
      const [name, make] = one(operators);
      return [name, make()];
    }),
  );
}

function filter(depth = 0): object {
  if (depth < 3 && random() < 0.25) {
    const name = one(["$and", "$or", "$nor", "$not"]);
    if (name === "$not") return { $not: filter(depth + 1) };
    return { [name]: Array.from({ length: 1 + below(3) }, () => filter(depth + 1)) };
  }
  return Object.fromEntries(Array.from({ length: 1 + below(2) }, () => [path(), operand(depth)]));
}

const documents = Array.from({ length: 150 }, (_, i) => ({ ...document(), id: String(i) }));
const indexes = ["a", "b", "a.b", "c.a", "0.a", "x y", "unscaled", "a.b.c"].map((field) => ({ fields: [field] }));
await server.expect(201, "POST", "/v1/collections", { name: "bare" });
await server.expect(201, "POST", "/v1/collections", {
  name: "indexed",
  schema: { fields: [], indexes: [...indexes, { fields: ["b", "c"] }] },
});
await server.expect(201, "POST", "/v1/collections", { name: "object", schema: { "x y": "object" } });

t.test("documents come back as they were sent", async (t) => {
  for (const name of ["bare", "indexed"]) {
    await server.expect(201, "POST", `/v1/collections/${name}/documents/bulk`, { documents });
    const { items } = (await server.expect(200, "GET", `/v1/collections/${name}/documents?limit=1000`)).body.data;
    const byId = new Map(items.map((item: { id: string }) => [item.id, item]));
    for (const sent of documents) t.strictSame(byId.get(sent.id), JSON.parse(JSON.stringify(sent)));
  }
});

t.test("filters", async (t) => {
  let accepted = 0;
  for (let i = 0; i < FILTERS; i++) {
    const filters = filter();
    const found = async (name: string, filters: object) => {
      const reply = await server.call("POST", `/v1/collections/${name}/search`, { filters, limit: 1000 });
      if (reply.status !== 200 && reply.status !== 400) {
        t.fail(`${reply.status} for ${JSON.stringify(filters)}, seed ${seed}: ${JSON.stringify(reply.body)}`);
      }
      if (reply.status !== 200) return null;
      return reply.body.data.documents.map(({ id }: { id: string }) => id) as string[];
    };
    const bare = await found("bare", filters);
    const indexed = await found("indexed", filters);
    if (JSON.stringify(bare) !== JSON.stringify(indexed)) {
      t.fail(`indexes change what ${JSON.stringify(filters)} finds, seed ${seed}: ${bare}, with them ${indexed}`);
    }
    if (bare === null) continue;
    accepted++;
    const others = await found("indexed", { $not: filters });
    if (others === null || bare.length + others.length !== documents.length || others.some((id) => bare.includes(id))) {
      t.fail(`${JSON.stringify(filters)} and its negation do not part the documents, seed ${seed}`);
    }
  }
  t.ok(accepted > FILTERS / 3, `${accepted} filters were accepted`);
});

t.test("bodies of any kind", async (t) => {
  const routes: [string, string][] = [
    ["POST", ""],
    ["PATCH", "/bare"],
    ["PUT", "/object"],
    ["POST", "/bare/documents"],
    ["POST", "/object/documents"],
    ["POST", "/bare/documents/bulk"],
    ["PUT", "/bare/documents/1"],
    ["PATCH", "/indexed/documents/2"],
    ["POST", "/bare/search"],
    ["POST", "/indexed/search"],
  ];
  const keys =
    "name schema fields indexes documents ordered data merge query filters limit offset mode vector cursor".split(" ");
  for (let i = 0; i < FILTERS; i++) {
    const [method, route] = one(routes);
    const body = Object.fromEntries(
      Array.from({ length: below(4) }, () => [one(keys), random() < 0.3 ? document() : value(0)]),
    );
    const reply = await server.call(method, `/v1/collections${route}`, body);
    if (reply.status >= 500) t.fail(`${reply.status} for ${method} ${route} ${JSON.stringify(body)}, seed ${seed}`);
  }
  for (const query of ["limit=x", "cursor=W10", "cursor=WzEsMl0", "page=0", "offset=999999999"]) {
    t.ok((await server.call("GET", `/v1/collections/bare/documents?${query}`)).status < 500);
  }
  t.ok((await server.call("GET", "/v1/collections/%00/documents/%00")).status < 500);
  t.ok((await server.call("POST", "/v1/collections/bare/search", { filters: { a: { $regex: "(" } } })).status < 500);
});
