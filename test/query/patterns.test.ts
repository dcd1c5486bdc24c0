/**
 * What patterns of graphs find, compared with trying everything: random small graphs, with loops and parallel
 * relationships, random patterns, optimized and not, with turns given up at every chance.
 */
import fc from "fast-check";
import t, { type Test } from "tap";
import { findAdjacency } from "../../src/query/exec/adjacency-index.js";
import type { Expr } from "../../src/query/expr/expr.js";
import { optimize } from "../../src/query/optimize/optimize.js";
import { explainText } from "../../src/query/plan/explain.js";
import type { MatchPlan, PatternEdge, PatternNode } from "../../src/query/plan/graph-plans.js";
import type { Plan } from "../../src/query/plan/plan.js";
import { INT8, type Value } from "../../src/values/values.js";
import { GraphRelationship } from "../../src/values/variant.js";
import { tries } from "../lengths.js";
import { columnOf, GRAPH, idOf, manyEdges, match, newNode, ONE_ROW, oneEdge, removal } from "./graph-tables.js";
import { openIndexes } from "./open-indexes.js";
import { aggregate, aggregateFunction, and, big, isNull, op, project, text, values } from "./plan-builder.js";
import { Database } from "./run-plans.js";

interface Edge {
  readonly id: number;
  readonly type: string;
  readonly src: number;
  readonly dst: number;
}

async function open(t: Test, nodes: number, edges: readonly Edge[]): Promise<Database> {
  const database = await Database.open(t);
  database.insert(
    GRAPH.nodes,
    Array.from({ length: nodes }, (_, i) => [i + 1, i % 2 === 0 ? "\u001fA\u001f" : "\u001fB\u001f", `p${i + 1}`]),
  );
  if (edges.length > 0) {
    database.insert(
      GRAPH.edges,
      edges.map(({ id, type, src, dst }) => [id, type, src, dst, `e${id}`]),
    );
  }
  return database;
}

/** Lists of relationships as lists of their ids. */
function plain(rows: readonly (readonly Value[])[]): string[] {
  const simple = (value: Value): unknown =>
    Array.isArray(value) ? value.map((item) => (item instanceof GraphRelationship ? item.id : item)) : value;
  return rows.map((row) => JSON.stringify(row.map(simple))).sort();
}

async function gives(t: Test, database: Database, plan: Plan, expected: readonly (readonly unknown[])[]) {
  const wanted = expected.map((row) => JSON.stringify(row)).sort();
  t.strictSame(plain(database.rows(plan)), wanted, "as bound");
  const best = optimize(plan);
  t.strictSame(plain(database.rows(best)), wanted, "optimized");
  t.strictSame(plain(await database.yieldingRows(best, { batchRows: 2 })), wanted, "giving up its turns");
  database.commit();
  const derived = openIndexes(database.shard, null);
  findAdjacency(database.context({ derived }), GRAPH.edges);
  await derived.idle();
  t.strictSame(plain(database.rows(best, { derived })), wanted, "by the adjacency");
  t.strictSame(plain(await database.yieldingRows(best, { derived, batchRows: 2 })), wanted, "giving up its turns");
  if (plan.kind !== "project") return;
  const counted = optimize(aggregate(plan.input, {}, { n: { fn: aggregateFunction("count") } }));
  const count = [[expected.length]];
  t.strictSame(database.rows(counted), count, "counted");
  t.strictSame(database.rows(counted, { derived }), count, "counted by the adjacency");
  t.strictSame(await database.yieldingRows(counted, { derived }), count, "counted, giving up its turns");
}

// ---- what the pattern means, by trying ----

interface Tried {
  readonly nodes: number[];
  readonly edges: (number | number[])[];
}

function otherEnd(edge: Edge, node: number, direction: PatternEdge["direction"]): number[] {
  const ends: number[] = [];
  if (direction !== "in" && edge.src === node) ends.push(edge.dst);
  if (direction !== "out" && edge.dst === node && (direction === "in" || edge.src !== edge.dst)) ends.push(edge.src);
  return ends;
}

function pathsFrom(edges: readonly Edge[], pattern: PatternEdge, from: number, limit: number): [number[], number][] {
  const { shape } = pattern;
  const { min, max } =
    shape.kind === "many" ? { min: shape.min, max: Math.min(shape.max ?? limit, limit) } : { min: 1, max: 1 };
  const found: [number[], number][] = [];
  const walk = (node: number, path: number[]) => {
    if (path.length >= min) found.push([path, node]);
    if (path.length === max) return;
    for (const edge of edges) {
      if (path.includes(edge.id) || (pattern.types.length > 0 && !pattern.types.includes(edge.type))) continue;
      for (const other of otherEnd(edge, node, pattern.direction)) walk(other, [...path, edge.id]);
    }
  };
  walk(from, []);
  return found;
}

/** All assignments; `bound` are the nodes that are given. */
function tryAll(nodes: number, edges: readonly Edge[], pattern: MatchPlan, bound: readonly (number | null)[]): Tried[] {
  let tried: Tried[] = [{ nodes: [], edges: [] }];
  pattern.nodes.forEach((_, i) => {
    const given = bound[i];
    const choices = given === null || given === undefined ? Array.from({ length: nodes }, (_, n) => n + 1) : [given];
    tried = tried.flatMap((one) => choices.map((node) => ({ ...one, nodes: [...one.nodes, node] })));
  });
  for (const edge of pattern.edges) {
    tried = tried.flatMap((one) => {
      const used = one.edges.flat();
      const ways = pathsFrom(edges, edge, one.nodes[edge.left]!, edges.length)
        .filter(([path, end]) => end === one.nodes[edge.right] && !path.some((id) => used.includes(id)))
        .map(([path]) => path);
      return ways.map((path) => ({ ...one, edges: [...one.edges, edge.shape.kind === "one" ? path[0]! : path] }));
    });
  }
  return tried;
}

/** Ids of new nodes, then ids of relationships. */
function shown(plan: MatchPlan): Plan {
  const exprs: Record<string, Expr> = {};
  plan.nodes.forEach((node, i) => {
    if (node.kind === "new") exprs[`n${i}`] = idOf(node);
  });
  plan.edges.forEach(({ shape }, i) => {
    if (shape.kind === "one") exprs[`e${i}`] = columnOf(shape.columns.id);
    else if (shape.kind === "many") exprs[`e${i}`] = columnOf(shape.relationships);
  });
  return project(plan, exprs);
}

/** Ids of new nodes, then the properties of relationships. */
function withProperties(plan: MatchPlan): Plan {
  const exprs: Record<string, Expr> = {};
  plan.nodes.forEach((node, i) => {
    if (node.kind === "new") exprs[`n${i}`] = idOf(node);
  });
  plan.edges.forEach(({ shape }, i) => {
    if (shape.kind === "one") exprs[`e${i}`] = columnOf(shape.columns.properties);
  });
  return project(plan, exprs);
}

const TYPES = ["T", "U"] as const;

const someGraph = fc.integer({ min: 1, max: 5 }).chain((nodes) =>
  fc.record({
    nodes: fc.constant(nodes),
    edges: fc
      .array(
        fc.tuple(fc.constantFrom(...TYPES), fc.integer({ min: 1, max: nodes }), fc.integer({ min: 1, max: nodes })),
        {
          maxLength: 7,
        },
      )
      .map((list) => list.map(([type, src, dst], i): Edge => ({ id: i + 1, type, src, dst }))),
  }),
);

const somePattern = fc.record({
  nodes: fc.integer({ min: 1, max: 3 }),
  edges: fc.array(
    fc.record({
      left: fc.nat(),
      right: fc.nat(),
      direction: fc.constantFrom("out", "in", "either"),
      types: fc.constantFrom([], ["T"], ["U"], ["T", "U"]),
      many: fc.option(fc.record({ min: fc.nat(2), more: fc.nat(2) })),
    }),
    { maxLength: 3 },
  ),
  bound: fc.option(fc.nat(4)),
});

t.test("patterns find what trying everything finds", async (t) => {
  await fc.assert(
    fc.asyncProperty(someGraph, somePattern, async ({ nodes, edges }, pattern) => {
      const database = await open(t, nodes, edges);
      const bound = pattern.bound === null ? null : (pattern.bound % nodes) + 1;
      const input = bound === null ? ONE_ROW : values([["given", INT8]], [[bound]]);
      const parts: PatternNode[] = Array.from({ length: pattern.nodes }, (_, i) =>
        i === 0 && bound !== null ? { kind: "bound", id: columnOf(input.columns[0]!) } : newNode(`n${i}`),
      );
      const plan = match(
        parts,
        pattern.edges.map(({ many, types, direction, ...ends }, i) => {
          const [left, right] = [ends.left % pattern.nodes, ends.right % pattern.nodes];
          const common = { left, right, direction: direction as PatternEdge["direction"], types };
          if (many === null) return oneEdge(`e${i}`, common);
          return manyEdges(`e${i}`, { ...common, min: many.min, max: many.min + many.more });
        }),
        { input },
      );
      const expected = tryAll(nodes, edges, plan, bound === null ? [] : [bound]);
      await gives(
        t,
        database,
        shown(plan),
        expected.map((one) => [...(bound === null ? one.nodes : one.nodes.slice(1)), ...one.edges]),
      );
    }),
    { numRuns: tries(20) },
  );
});

t.test("relationships whose properties are read come from their table, as the transaction sees it", async (t) => {
  const directions = fc.constantFrom<PatternEdge["direction"]>("out", "in", "either");
  const types = fc.constantFrom([], ["T"], ["T", "U"]);
  const labels = fc.option(fc.constantFrom("\u001fA\u001f", "\u001fB\u001f"));
  await fc.assert(
    fc.asyncProperty(
      someGraph,
      fc.array(fc.tuple(directions, types), { minLength: 1, maxLength: 2 }),
      fc.tuple(labels, labels, labels),
      fc.boolean(),
      async ({ nodes, edges }, steps, labelled, sameEnd) => {
        const database = await open(t, nodes, edges);
        const last = edges.at(-1)?.id;
        if (last !== undefined) {
          database.commit();
          database.result(removal(last));
        }
        const parts = Array.from({ length: steps.length + (sameEnd ? 0 : 1) }, (_, i) => newNode(`n${i}`));
        const pattern = steps.map(([direction, types], i) =>
          oneEdge(`e${i}`, { left: i, right: (i + 1) % parts.length, direction, types }),
        );
        const wanted = parts.map((node, i) => [node, labelled[i]] as const).filter(([, label]) => label !== null);
        const predicate = wanted.map(([node, label]) => op(columnOf(node.columns.labels), "=", text(label!)));
        const plan = match(parts, pattern, { predicate: predicate.length === 0 ? null : and(...predicate) });
        const isWanted = (id: number, i: number) =>
          labelled[i] === null || (labelled[i] === "\u001fA\u001f") === (id % 2 === 1);
        const expected = tryAll(nodes, edges.slice(0, -1), plan, [])
          .filter((one) => one.nodes.every(isWanted))
          .map((one) => [...one.nodes, ...one.edges.map((id) => `e${id}`)]);
        await gives(t, database, withProperties(plan), expected);
      },
    ),
    { numRuns: tries(40) },
  );
  const plan = withProperties(
    match([newNode("a"), newNode("b")], [oneEdge("e", { left: 0, right: 1, direction: "in" })]),
  );
  t.strictSame(
    explainText(optimize(plan)).filter((line) => /Expand|nodes/.test(line)),
    [],
    "no node is looked at",
  );
});

t.test("triangles, squares and walks that are counted", async (t) => {
  const ways = fc.constantFrom<PatternEdge["direction"]>("out", "in");
  const shapes = [
    [0, 1, 2],
    [0, 1, 2, 0],
    [0, 1, 2, 3],
    [0, 1, 0],
    [0, 1, 2, 3, 0],
  ];
  await fc.assert(
    fc.asyncProperty(
      someGraph,
      fc.constantFrom(...shapes),
      fc.tuple(ways, ways, ways, ways),
      fc.constantFrom(["T"], ["U"]),
      async ({ nodes, edges }, shape, directions, types) => {
        const database = await open(t, nodes, edges);
        const parts = Array.from({ length: Math.max(...shape) + 1 }, (_, i) => newNode(`n${i}`));
        const steps = shape
          .slice(1)
          .map((right, i) => oneEdge(`e${i}`, { left: shape[i]!, right, direction: directions[i]!, types }));
        const plan = match(parts, steps);
        const expected = tryAll(nodes, edges, plan, []);
        await gives(
          t,
          database,
          shown(plan),
          expected.map((one) => [...one.nodes, ...one.edges]),
        );
      },
    ),
    { numRuns: tries(20) },
  );
});

t.test("nodes that paths end at, each once", async (t) => {
  await fc.assert(
    fc.asyncProperty(
      someGraph,
      fc.constantFrom<PatternEdge["direction"]>("out", "in", "either"),
      fc.constantFrom<"open" | "bound" | "same">("open", "bound", "same"),
      fc.nat(1),
      fc.integer({ min: 1, max: 4 }),
      async ({ nodes, edges }, direction, ends, min, max) => {
        const database = await open(t, nodes, edges);
        const path = manyEdges("p", { left: 0, right: ends === "same" ? 0 : 1, direction, min, max });
        const [a, b] = [newNode("a"), newNode("b")];
        const plan = match(ends === "same" ? [a] : [a, b], [path], {
          predicate: ends === "bound" ? op(idOf(b), "=", big(1)) : null,
        });
        const distinct: Plan = project(plan, { a: idOf(a), b: idOf(ends === "same" ? a : b) });
        const found = new Set<string>();
        for (let x = 1; x <= nodes; x++) {
          for (const [, end] of pathsFrom(edges, path, x, edges.length)) {
            if (ends === "open" || end === (ends === "same" ? x : 1)) found.add(JSON.stringify([x, end]));
          }
        }
        const expected = [...found].map((pair) => JSON.parse(pair) as number[]);
        await gives(t, database, { kind: "distinct", input: distinct, on: null, columns: distinct.columns }, expected);
      },
    ),
    { numRuns: tries(20) },
  );
});

t.test("shortest paths", async (t) => {
  await fc.assert(
    fc.asyncProperty(
      someGraph,
      fc.constantFrom<PatternEdge["direction"]>("out", "in", "either"),
      fc.boolean(),
      fc.nat(1),
      async ({ nodes, edges }, direction, isOpen, min) => {
        const database = await open(t, nodes, edges);
        const [a, b] = [newNode("a"), newNode("b")];
        const path = manyEdges("p", { left: 0, right: 1, direction, min, search: "all-shortest" });
        const ends: Plan = values(
          [
            ["x", INT8],
            ["y", INT8],
          ],
          Array.from({ length: nodes * nodes }, (_, i) => [(i % nodes) + 1, Math.floor(i / nodes) + 1]),
        );
        const bound = ends.columns.map((column): PatternNode => ({ kind: "bound", id: columnOf(column) }));
        const plan = isOpen ? match([a, b], [path]) : match(bound, [path], { input: ends });
        const expected: unknown[][] = [];
        for (let x = 1; x <= nodes; x++) {
          for (let y = 1; y <= nodes; y++) {
            const ways = pathsFrom(edges, path, x, edges.length)
              .filter(([way, end]) => end === y && (x !== y || way.length === 0))
              .map(([way]) => way);
            const least = Math.min(...ways.map((way) => way.length));
            expected.push(...ways.filter((way) => way.length === least).map((way) => [x, y, way]));
          }
        }
        const exprs = {
          x: isOpen ? idOf(a) : columnOf(ends.columns[0]!),
          y: isOpen ? idOf(b) : columnOf(ends.columns[1]!),
        };
        const list = path.shape.kind === "many" ? columnOf(path.shape.relationships) : big(0);
        await gives(t, database, project(plan, { ...exprs, list }), expected);
        const one = match(
          isOpen ? [newNode("a"), newNode("b")] : bound,
          [{ ...path, shape: { ...path.shape, search: "shortest" } as typeof path.shape }],
          isOpen ? {} : { input: ends },
        );
        const pairs = new Set(expected.map(([x, y]) => `${x} ${y}`));
        t.equal(database.rows(optimize(one)).length, pairs.size, "one for each pair");
      },
    ),
    { numRuns: tries(20) },
  );
});

const TRIANGLE: readonly Edge[] = [
  { id: 1, type: "T", src: 1, dst: 2 },
  { id: 2, type: "T", src: 2, dst: 3 },
  { id: 3, type: "U", src: 3, dst: 1 },
  { id: 4, type: "T", src: 2, dst: 2 },
];

t.test("conditions on nodes, relationships and steps of paths", async (t) => {
  const database = await open(t, 3, TRIANGLE);
  const [a, b] = [newNode("a"), newNode("b")];
  const edge = oneEdge("e", { left: 0, right: 1, direction: "out" });
  if (edge.shape.kind !== "one") throw new Error("unreachable");
  const predicate = and(
    op(columnOf(b.columns.properties), "=", text("p2")),
    op(columnOf(edge.shape.columns.properties), "<>", text("e4")),
  );
  const plan = match([a, b], [edge], { predicate });
  const { type, src, dst, properties } = edge.shape.columns;
  await gives(
    t,
    database,
    project(plan, {
      a: columnOf(a.columns.properties),
      type: columnOf(type),
      src: columnOf(src),
      dst: columnOf(dst),
      p: columnOf(properties),
    }),
    [["p1", "T", 1, 2, "e1"]],
  );
  const each = manyEdges("p", { left: 0, right: 1, direction: "out", max: 4 });
  if (each.shape.kind !== "many") throw new Error("unreachable");
  const filter = op(columnOf(each.shape.each.properties), "<>", text("e4"));
  const many: PatternEdge = { ...each, shape: { ...each.shape, filter } };
  const [c, d] = [newNode("c"), newNode("d")];
  await gives(t, database, shown(match([c, d], [many], { predicate: op(idOf(c), "=", big(2)) })), [
    [2, 3, [2]],
    [2, 1, [2, 3]],
    [2, 2, [2, 3, 1]],
  ]);
});

t.test("OPTIONAL MATCH keeps its row", async (t) => {
  const database = await open(t, 3, TRIANGLE);
  const input = values([["given", INT8]], [[1], [3], [null]]);
  const given = columnOf(input.columns[0]!);
  const b = newNode("b");
  const edge = oneEdge("e", { left: 0, right: 1, direction: "out", types: ["T"] });
  const plan = match([{ kind: "bound", id: given }, b], [edge], { input, optional: true });
  await gives(t, database, project(plan, { given, b: idOf(b), p: columnOf(b.columns.properties) }), [
    [1, 2, "p2"],
    [3, null, null],
    [null, null, null],
  ]);
});

t.test("a relationship and a path that the input gives", async (t) => {
  const database = await open(t, 3, TRIANGLE);
  const input = values([["r", INT8]], [[1], [4], [null]]);
  const r = columnOf(input.columns[0]!);
  const [a, b] = [newNode("a"), newNode("b")];
  const bound = (direction: PatternEdge["direction"], types: readonly string[] = []): PatternEdge => ({
    name: "r",
    left: 0,
    right: 1,
    direction,
    types,
    shape: { kind: "bound", id: r },
  });
  const ends = (edge: PatternEdge) => project(match([a, b], [edge], { input }), { r, a: idOf(a), b: idOf(b) });
  await gives(t, database, ends(bound("out")), [
    [1, 1, 2],
    [4, 2, 2],
  ]);
  await gives(t, database, ends(bound("either")), [
    [1, 1, 2],
    [1, 2, 1],
    [4, 2, 2],
  ]);
  await gives(t, database, ends(bound("in", ["U"])), []);
  const paths = match([newNode("c"), newNode("d")], [manyEdges("p", { left: 0, right: 1, direction: "out", max: 2 })]);
  const [, path] = [paths.nodes, paths.edges[0]!.shape];
  if (path.kind !== "many") throw new Error("unreachable");
  const again = manyEdges("q", {
    left: 0,
    right: 1,
    direction: "in",
    max: 5,
    bound: columnOf(path.relationships),
  });
  const [c, d] = [newNode("c2"), newNode("d2")];
  const both = match([c, d], [again], { input: paths, predicate: isNull(idOf(c), true) });
  // Against its relationships a path is only followed when it is one loop, or has one relationship.
  await gives(t, database, project(both, { c: idOf(c), d: idOf(d) }), [
    [2, 1],
    [3, 2],
    [1, 3],
    [2, 2],
  ]);
});
