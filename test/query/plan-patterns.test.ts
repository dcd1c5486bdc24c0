/** Plans of patterns, by the rule alone and by all rules, against test/golden/plan/plan-patterns.txt. */
import t from "tap";
import type { StatisticsSource, TableStatistics } from "../../src/catalog/statistics.js";
import type { Expr } from "../../src/query/expr/expr.js";
import { resolveAggregate } from "../../src/query/expr/resolve.js";
import { optimize } from "../../src/query/optimize/optimize.js";
import { planPatterns } from "../../src/query/optimize/plan-patterns.js";
import { explainText } from "../../src/query/plan/explain.js";
import type { PatternEdge } from "../../src/query/plan/graph-plans.js";
import type { Plan } from "../../src/query/plan/plan.js";
import { INT8, TEXT } from "../../src/values/values.js";
import { matchesGolden } from "./golden.js";
import { columnOf, GRAPH, idOf, manyEdges, match, newNode, oneEdge } from "./graph-tables.js";
import { aggregate, aggregateFunction, and, big, op, project, text, values } from "./plan-builder.js";

const count = { fn: aggregateFunction("count") };

const NODES: TableStatistics = { rows: 1000, columns: {} };
const EDGES: TableStatistics = {
  ...NODES,
  rows: 9000,
  columns: {
    2: {
      nullFraction: 0,
      distinct: 2,
      common: [
        { value: "KNOWS", fraction: 0.9 },
        { value: "LIKES", fraction: 0.1 },
      ],
      histogram: [],
    },
  },
};
const statistics: StatisticsSource = { of: (table) => (table.name === GRAPH.nodes.name ? NODES : EDGES) };

function propertiesOf({ shape }: PatternEdge): Expr {
  if (shape.kind !== "one") throw new Error("unreachable");
  return columnOf(shape.columns.properties);
}

const CASES: Readonly<Record<string, () => Plan>> = {
  "from the node that is found by its key": () => {
    const [a, b] = [newNode("a"), newNode("b")];
    const edge = oneEdge("e", { left: 0, right: 1, direction: "out", types: ["KNOWS"] });
    const plan = match([a, b], [edge], { predicate: op(idOf(b), "=", big(7)) });
    return project(plan, { name: columnOf(a.columns.properties) });
  },
  "the rarer type first; nobody reads the ends": () => {
    const [a, b, c] = [newNode("a"), newNode("b"), newNode("c")];
    const knows = oneEdge("k", { left: 0, right: 1, direction: "out", types: ["KNOWS"] });
    const likes = oneEdge("l", { left: 0, right: 2, direction: "out", types: ["LIKES"] });
    return aggregate(match([a, b, c], [knows, likes], { predicate: op(idOf(a), "=", big(7)) }), {}, { n: count });
  },
  "a triangle": () => {
    const [a, b, c] = [newNode("a"), newNode("b"), newNode("c")];
    const side = (name: string, left: number, right: number) =>
      oneEdge(name, { left, right, direction: "out", types: ["KNOWS"] });
    const plan = match([a, b, c], [side("x", 0, 1), side("y", 1, 2), side("z", 2, 0)]);
    return aggregate(plan, {}, { n: count });
  },
  "a path of any length between two nodes that are known": () => {
    const [a, b] = [newNode("a"), newNode("b")];
    const path = manyEdges("p", { left: 0, right: 1, direction: "either", max: 4 });
    const predicate = and(op(idOf(a), "=", big(1)), op(idOf(b), "=", big(2)));
    return project(match([a, b], [path], { predicate }), { one: big(1) });
  },
  "nodes that paths lead to, each once": () => {
    const [a, b] = [newNode("a"), newNode("b")];
    const path = manyEdges("p", { left: 0, right: 1, direction: "out", max: 3 });
    const plan = match([a, b], [path], { predicate: op(idOf(a), "=", big(1)) });
    const counted = { fn: resolveAggregate("count", [INT8]).fn, args: [idOf(b)], distinct: true };
    return aggregate(plan, {}, { n: counted });
  },
  "OPTIONAL MATCH, and a condition on what it finds": () => {
    const input = values([["given", INT8]], [[1]]);
    const b = newNode("b");
    const edge = oneEdge("e", { left: 0, right: 1, direction: "in" });
    const predicate = op(columnOf(b.columns.labels), "=", text("x"));
    const bound = { kind: "bound", id: columnOf(input.columns[0]!) } as const;
    const plan = match([bound, b], [edge], { input, optional: true, predicate });
    return project(plan, { b: idOf(b) });
  },
  "properties of all relationships": () => {
    const edge = oneEdge("e", { left: 0, right: 1, direction: "out", types: ["KNOWS"] });
    return project(match([newNode("a"), newNode("b")], [edge]), { p: propertiesOf(edge) });
  },
  "properties of all relationships, and both ends": () => {
    const [a, b] = [newNode("a"), newNode("b")];
    const edge = oneEdge("e", { left: 0, right: 1, direction: "either" });
    const predicate = op(columnOf(a.columns.labels), "=", text("x"));
    return project(match([a, b], [edge], { predicate }), { b: columnOf(b.columns.properties), p: propertiesOf(edge) });
  },
  "properties of a few relationships": () => {
    const [a, b] = [newNode("a"), newNode("b")];
    const edge = oneEdge("e", { left: 0, right: 1, direction: "out" });
    return project(match([a, b], [edge], { predicate: op(idOf(a), "=", big(7)) }), { p: propertiesOf(edge) });
  },
  "two parts without a relationship between them": () => {
    const nodes = ["a", "b", "c", "d"].map(newNode);
    const edges = [
      oneEdge("e", { left: 0, right: 1, direction: "out", types: ["LIKES"] }),
      oneEdge("f", { left: 2, right: 3, direction: "out" }),
    ];
    const plan = match(nodes, edges, { predicate: op(columnOf(nodes[0]!.columns.properties), "=", text("x")) });
    return project(plan, { d: idOf(nodes[3]!) });
  },
  "a node that has a row's value": () => {
    const input = values([["name", TEXT]], [["x"], ["y"]]);
    const a = newNode("a");
    const predicate = op(columnOf(a.columns.properties), "=", columnOf(input.columns[0]!));
    return project(match([a], [], { input, predicate }), { a: idOf(a) });
  },
};

t.test("plan-patterns", async (t) => {
  const printed: string[] = [];
  for (const [name, make] of Object.entries(CASES)) {
    const plan = make();
    const alone = optimize(plan, { rules: [planPatterns], statistics });
    printed.push(`# ${name}`, ...explainText(plan), "=>", ...explainText(alone), "=> all rules");
    printed.push(...explainText(optimize(plan, { statistics })), "");
  }
  matchesGolden(t, "plan/plan-patterns.txt", printed.join("\n"));
});
