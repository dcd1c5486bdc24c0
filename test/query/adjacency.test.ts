/**
 * The adjacency in memory gives what the edge table's indexes do, whatever was committed, saved and opened again
 * meanwhile, for transactions with old snapshots and with writes of their own.
 */
import t, { type Test } from "tap";
import type { DerivedIndexes } from "../../src/derived/derived-indexes.js";
import { AdjacencyBody, type EdgeItem } from "../../src/graph/adjacency-body.js";
import { allPages } from "../../src/graph/adjacency-build.js";
import { EdgeChunks, NO_TYPE } from "../../src/graph/edge-chunks.js";
import { findAdjacency } from "../../src/query/exec/adjacency-index.js";
import { optimize } from "../../src/query/optimize/optimize.js";
import type { Plan } from "../../src/query/plan/plan.js";
import type { Transaction } from "../../src/storage/store.js";
import { INT8, type Value } from "../../src/values/values.js";
import { sized } from "../lengths.js";
import { directory } from "../storage/shards.js";
import { columnOf, GRAPH, idOf, manyEdges, match, newNode, ONE_ROW, oneEdge, removal } from "./graph-tables.js";
import { openIndexes } from "./open-indexes.js";
import { aggregate, aggregateFunction, big, project, values } from "./plan-builder.js";
import { Database, insertPlan } from "./run-plans.js";

class Random {
  constructor(private state: number) {}

  below(bound: number): number {
    this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.state / 2 ** 32) * bound);
  }
}

const NODES = 600;

/** All relationships, and those around some nodes. */
function plans(): Plan[] {
  const both = (direction: "out" | "in" | "either", types: readonly string[]) => {
    const [a, b] = [newNode("a"), newNode("b")];
    const input = values([["n", INT8]], [[1], [2], [3], [300], [NODES], [null]]);
    const bound = { kind: "bound", id: columnOf(input.columns[0]!) } as const;
    const edge = oneEdge("e", { left: 0, right: 1, direction, types });
    if (edge.shape.kind !== "one") throw new Error("unreachable");
    const { id, type, src, dst } = edge.shape.columns;
    const columns = { id: columnOf(id), type: columnOf(type), src: columnOf(src), dst: columnOf(dst) };
    return [
      project(match([a, b], [edge]), { a: idOf(a), b: idOf(b), ...columns }),
      project(match([bound, b], [edge], { input }), { n: columnOf(input.columns[0]!), b: idOf(b), ...columns }),
    ];
  };
  const [a, b] = [newNode("a"), newNode("b")];
  const path = manyEdges("p", { left: 0, right: 1, direction: "out", min: 2, max: 2 });
  const paths = project(match([a, b], [path], { input: ONE_ROW }), { a: idOf(a), b: idOf(b) });
  return [...both("out", []), ...both("either", ["T"]), ...both("in", ["U", "T"]), paths, ...counts()];
}

/** How many walks of two steps there are: one relationship may be used once. */
function counts(): Plan[] {
  const steps = [
    ["out", "T", "out", "T"],
    ["in", "T", "in", "T"],
    ["out", "T", "in", "T"],
    ["in", "U", "out", "U"],
    ["out", "T", "out", "U"],
    ["in", "V", "out", "T"],
    ["out", "T", "either", "T"],
  ] as const;
  return steps.map(([direction, type, next, nextType]) => {
    const nodes = [newNode("a"), newNode("b"), newNode("c")];
    const first = oneEdge("e", { left: 0, right: 1, direction, types: [type] });
    const second = oneEdge("f", { left: 1, right: 2, direction: next, types: [nextType] });
    return aggregate(match(nodes, [first, second]), {}, { count: { fn: aggregateFunction("count") } });
  });
}

function agrees(t: Test, database: Database, derived: DerivedIndexes, tx: Transaction): void {
  for (const plan of plans().map((one) => optimize(one))) {
    const sorted = (rows: readonly (readonly Value[])[]) => rows.map((row) => row.join()).sort();
    const byIndexes = sorted(database.rows(plan, { tx }));
    const byAdjacency = sorted(database.rows(plan, { tx, derived }));
    t.ok(byIndexes.length > 0);
    t.strictSame(byAdjacency, byIndexes);
  }
}

t.test("any history", async (t) => {
  const random = new Random(11);
  const files = directory(t);
  const database = await Database.open(t);
  database.insert(
    GRAPH.nodes,
    Array.from({ length: NODES }, (_, i) => [i + 1, "", ""]),
  );
  let nextId = 1;
  const present: number[] = [];
  const insert = (tx: Transaction, count: number): void => {
    const rows: Value[][] = [];
    for (; count > 0; count--) {
      const node = () => 1 + random.below(random.below(3) === 0 ? NODES : 5);
      present.push(nextId);
      rows.push([nextId++, ["T", "U", "V"][random.below(3)]!, node(), node(), ""]);
    }
    database.result(insertPlan(GRAPH.edges, rows), { tx });
  };
  const remove = (tx: Transaction): void => {
    const [id] = present.splice(random.below(present.length), 1);
    database.result(removal(id!), { tx });
  };
  insert(database.tx, 300);
  database.commit();
  let derived = openIndexes(database.shard, files);
  t.equal(findAdjacency(database.context({ derived }), GRAPH.edges), null, "asking begins to make it");
  await derived.idle();
  t.ok(findAdjacency(database.context({ derived }), GRAPH.edges)?.body.view());
  for (let round = 0; round < sized(4, 8); round++) {
    const old = database.shard.begin();
    const writing = database.shard.begin();
    for (let i = 0; i < 4; i++) {
      if (random.below(2) === 0) insert(database.tx, 1 + random.below(9));
      else remove(database.tx);
      if (random.below(2) === 0) database.commit();
    }
    agrees(t, database, derived, database.tx);
    agrees(t, database, derived, old);
    insert(writing, 3);
    present.length -= 3;
    agrees(t, database, derived, writing);
    agrees(t, database, derived, writing.frozen());
    old.rollback();
    writing.rollback();
    database.commit();
    agrees(t, database, derived, database.tx);
    if (round % 4 !== 3) continue;
    await derived.close();
    insert(database.tx, 5);
    remove(database.tx);
    database.commit();
    derived = openIndexes(database.shard, files);
    findAdjacency(database.context({ derived }), GRAPH.edges);
    await derived.idle();
    agrees(t, database, derived, database.tx);
  }
});

t.test("a reader conflicts with a relationship that appears around its node, and with no other", async (t) => {
  const database = await Database.open(t);
  database.insert(GRAPH.nodes, [
    [1, "", ""],
    [2, "", ""],
    [3, "", ""],
  ]);
  database.insert(GRAPH.edges, [[1, "T", 1, 2, ""]]);
  database.commit();
  const derived = openIndexes(database.shard, null);
  findAdjacency(database.context({ derived }), GRAPH.edges);
  await derived.idle();
  const around = (node: number) => {
    const b = newNode("b");
    const edge = oneEdge("e", { left: 0, right: 1, direction: "out" });
    return match([{ kind: "bound", id: big(node) }, b], [edge]);
  };
  for (const [node, conflicts] of [
    [1, true],
    [3, false],
  ] as const) {
    const tx = database.shard.begin();
    database.rows(around(node), { tx, derived });
    database.result(insertPlan(GRAPH.nodes, [[10 + node, "", ""]]), { tx });
    database.insert(GRAPH.edges, [[10 + node, "T", 1, 3, ""]]);
    database.commit();
    if (conflicts) t.throws(() => tx.commit(), /could not serialize access/);
    else t.doesNotThrow(() => tx.commit());
  }
});

t.test("what is committed is in the adjacency at once, not among what waits", async (t) => {
  const database = await Database.open(t);
  const rows = Array.from({ length: 300 }, (_, i): Value[] => [i + 1, "T", 1 + (i % 7), 2, ""]);
  database.insert(GRAPH.edges, rows.slice(0, 100));
  database.commit();
  const derived = openIndexes(database.shard, null);
  findAdjacency(database.context({ derived }), GRAPH.edges);
  await derived.idle();
  const { body, entries } = findAdjacency(database.context({ derived }), GRAPH.edges)!;
  database.insert(GRAPH.edges, rows.slice(100));
  database.commit();
  t.same([entries.size, body.count], [0, 300]);
  database.result(removal(300), { tx: database.tx });
  database.commit();
  t.same([entries.size, body.count, body.has(300)], [0, 299, false]);
  await derived.idle();
  t.equal(body.view()!.count, 299);
});

t.test("relationships of a node that has very many are sorted in steps", async (t) => {
  const hub = 5;
  const random = new Random(7);
  const edges = new EdgeChunks();
  const ends: number[] = [];
  for (let id = 0; id < 70_001; id++) {
    ends.push(random.below(20_000));
    edges.set(id, NO_TYPE + 1, hub, ends[id]!);
  }
  const making = allPages(edges.frozen(), { count: ends.length, maxNode: 20_000, types: 1 });
  let made = making.next();
  for (; made.done !== true; made = making.next());
  const { offsets, others, edges: ids } = made.value.out[0]![0]!;
  const wanted = [...ends.keys()].sort((a, b) => ends[a]! - ends[b]! || a - b);
  t.same([offsets[hub], offsets[hub + 1]], [0, ends.length]);
  t.same([...ids], wanted);
  t.same(
    [...others],
    wanted.map((id) => ends[id]),
  );
});

t.test("many changes at once have the pages made anew", async (t) => {
  const body = new AdjacencyBody();
  const random = new Random(5);
  const EDGES = 60_000;
  const edges = Array.from({ length: EDGES }, (_, i) => ({
    id: i + 1,
    type: "T",
    src: 1 + random.below(2000),
    dst: 1 + random.below(2000),
  }));
  const check = (present: readonly (typeof edges)[number][]): void => {
    const view = body.view()!;
    const degrees = new Map<number, number>();
    for (const { src } of present) degrees.set(src, (degrees.get(src) ?? 0) + 1);
    let isRight = view.count === present.length;
    for (let node = 1; node <= 2000; node++) {
      const page = view.out[0]![node >>> 8];
      const [from, to] = page === undefined ? [0, 0] : [page.offsets[node & 255]!, page.offsets[(node & 255) + 1]!];
      isRight &&= to - from === (degrees.get(node) ?? 0);
      for (let i = from + 1; i < to; i++) isRight &&= page!.others[i - 1]! <= page!.others[i]!;
    }
    t.ok(isRight);
  };
  const work = () => {
    t.equal(body.view(), null);
    while (body.hasWork) body.work();
  };
  for (const edge of edges.slice(0, 1000)) body.add(edge);
  work();
  check(edges.slice(0, 1000));
  for (const edge of edges.slice(1000)) body.add(edge);
  work();
  check(edges);
  for (const { id } of edges.slice(0, 100)) body.remove(id);
  check(edges.slice(100));
  for (const { id } of edges.slice(100, 5000)) body.remove(id);
  work();
  check(edges.slice(5000));
  for (const { id } of edges.slice(5000, 50_000)) body.remove(id);
  work();
  check(edges.slice(50_000));
});

t.test(
  "what comes and goes while pages are made is in them, and a save has what was there when it began",
  async (t) => {
    const random = new Random(7);
    const body = new AdjacencyBody();
    const present = new Map<number, EdgeItem>();
    let nextId = 1;
    const put = (id: number): void => {
      const item = { id, type: ["T", "U"][random.below(2)]!, src: random.below(3000), dst: random.below(3000) };
      present.set(id, item);
      body.replace(item);
    };
    const remove = (id: number): void => {
      if (present.delete(id)) body.remove(id);
    };
    for (; nextId <= 30_000; nextId++) put(nextId);
    body.work();
    const before = [...present.values()];
    const saved = body.saveNow();
    for (let round = 0; round < 6; round++) {
      for (let i = 0; i < 500; i++) {
        put(nextId++);
        put(1 + random.below(30_000));
        remove(1 + random.below(nextId));
      }
      if (body.isBusy) t.fail("pages that are made hold nothing up");
      body.work();
    }
    while (body.hasWork) body.work();
    const edgesOf = (one: AdjacencyBody): EdgeItem[] => {
      const { types, out, in: into } = one.view()!;
      const found = (tables: typeof out, isOut: boolean): EdgeItem[] =>
        tables.flatMap((pages, type) =>
          pages.flatMap((page, number) =>
            Array.from(page?.edges ?? [], (id, at) => {
              const node = number * 256 + page!.offsets.findLastIndex((offset) => offset <= at);
              const other = page!.others[at]!;
              return { id, type: types[type]!, src: isOut ? node : other, dst: isOut ? other : node };
            }),
          ),
        );
      const sorted = (items: readonly EdgeItem[]) => items.toSorted((a, b) => a.id - b.id);
      t.strictSame(sorted(found(out, true)), sorted(found(into, false)));
      return sorted(found(out, true));
    };
    t.strictSame(
      edgesOf(body),
      [...present.values()].sort((a, b) => a.id - b.id),
    );
    const steps = AdjacencyBody.load(Buffer.concat([...saved]));
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    while (step.value.hasWork) step.value.work();
    t.strictSame(edgesOf(step.value), before);
  },
);
