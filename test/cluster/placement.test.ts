import t from "tap";
import { type PlacementInput, placePartitions } from "../../src/cluster/placement.js";

const NOBODY = { draining: new Set<string>(), wants: new Map<number, string>() };

function owners(
  input: Partial<PlacementInput> & Pick<PlacementInput, "nodes">,
  partitions = 16,
): (string | undefined)[] {
  return placePartitions({ partitions, ...NOBODY, ...input }).map(([first]) => first);
}

function countOf(all: readonly (string | undefined)[], node: string): number {
  return all.filter((owner) => owner === node).length;
}

t.test("nodes have about the same number of partitions", async (t) => {
  for (const nodes of [["a"], ["a", "b"], ["a", "b", "c"], ["a", "b", "c", "d", "e"]]) {
    const all = owners({ nodes });
    for (const node of nodes) t.ok(countOf(all, node) <= Math.ceil(16 / nodes.length), `${node} of ${nodes.join()}`);
    t.equal(all.filter((owner) => owner === undefined).length, 0);
  }
});

t.test("the order of the nodes makes no difference", async (t) => {
  t.same(owners({ nodes: ["c", "a", "b"] }), owners({ nodes: ["a", "b", "c"] }));
});

t.test("a node that goes takes few partitions of others along", async (t) => {
  const before = owners({ nodes: ["a", "b", "c", "d"] }, 64);
  const after = owners({ nodes: ["a", "b", "c"] }, 64);
  const moved = before.filter((owner, partition) => owner !== "d" && owner !== after[partition]).length;
  t.ok(moved <= 20, `${moved} of 48 moved`);
});

t.test("a node that drains is the last choice, and the only one if it is alone", async (t) => {
  const draining = new Set(["a"]);
  const orders = placePartitions({ partitions: 8, nodes: ["a", "b"], draining, wants: new Map() });
  for (const order of orders) t.same(order, ["b", "a"]);
  t.same(owners({ nodes: ["a"], draining }, 2), ["a", "a"]);
});

t.test("an operator's wish comes first while that node lives, and counts for its share", async (t) => {
  const wants = new Map([0, 1, 2, 3, 4, 5, 6, 7].map((partition) => [partition, "b"]));
  const all = owners({ nodes: ["a", "b"], wants });
  t.equal(countOf(all.slice(0, 8), "b"), 8);
  t.equal(countOf(all, "b"), 8);
  t.equal(countOf(owners({ nodes: ["a", "c"], wants }), "b"), 0);
});

t.test("there is nobody to own anything", async (t) => {
  t.same(owners({ nodes: [] }, 2), [undefined, undefined]);
});
