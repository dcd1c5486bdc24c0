import { createHash } from "node:crypto";
import t from "tap";
import { Placement, type PlacementInput } from "../../src/cluster/placement.js";
import { SeededRandom } from "../simulation/seeded-random.js";

const NOBODY = { draining: new Set<string>(), wants: new Map<number, string>() };

async function orders(
  input: Partial<PlacementInput> & Pick<PlacementInput, "nodes">,
  partitions = 16,
  placement = new Placement(partitions),
): Promise<(readonly string[])[]> {
  const orderOf = await placement.place({ ...NOBODY, ...input });
  return Array.from({ length: partitions }, (_, partition) => orderOf(partition));
}

async function owners(
  input: Partial<PlacementInput> & Pick<PlacementInput, "nodes">,
  partitions = 16,
): Promise<(string | undefined)[]> {
  return (await orders(input, partitions)).map(([first]) => first);
}

/** The same, from the beginning and without anything kept. */
function modelOrders({ nodes, draining, wants }: PlacementInput, partitions: number): (readonly string[])[] {
  const staying = nodes.filter((node) => !draining.has(node));
  const share = Math.ceil(partitions / Math.max(1, staying.length));
  const numbers = Array.from({ length: partitions }, (_, partition) => partition);
  const firsts = numbers.map((partition) => staying.find((node) => node === wants.get(partition)));
  const weight = (partition: number, node: string): string =>
    createHash("sha256").update(`${partition}/${node}`).digest("hex");
  return numbers.map((partition) => {
    const order = [...staying].sort((a, b) => (weight(partition, a) < weight(partition, b) ? -1 : 1));
    const hasRoom = (node: string): boolean => countOf(firsts, node) < share;
    firsts[partition] ??= order.find(hasRoom) ?? order[0];
    const rest = [...order, ...nodes.filter((node) => draining.has(node))];
    const first = firsts[partition];
    return first === undefined ? rest : [first, ...rest.filter((node) => node !== first)];
  });
}

function countOf(all: readonly (string | undefined)[], node: string): number {
  return all.filter((owner) => owner === node).length;
}

t.test("nodes have about the same number of partitions", async (t) => {
  for (const nodes of [["a"], ["a", "b"], ["a", "b", "c"], ["a", "b", "c", "d", "e"]]) {
    const all = await owners({ nodes });
    for (const node of nodes) t.ok(countOf(all, node) <= Math.ceil(16 / nodes.length), `${node} of ${nodes.join()}`);
    t.equal(all.filter((owner) => owner === undefined).length, 0);
  }
});

t.test("the order of the nodes makes no difference", async (t) => {
  t.same(await owners({ nodes: ["c", "a", "b"] }), await owners({ nodes: ["a", "b", "c"] }));
});

t.test("a node that goes takes few partitions of others along", async (t) => {
  const before = await owners({ nodes: ["a", "b", "c", "d"] }, 64);
  const after = await owners({ nodes: ["a", "b", "c"] }, 64);
  const moved = before.filter((owner, partition) => owner !== "d" && owner !== after[partition]).length;
  t.ok(moved <= 20, `${moved} of 48 moved`);
});

t.test("a node that drains is the last choice, and the only one if it is alone", async (t) => {
  const draining = new Set(["a"]);
  for (const order of await orders({ nodes: ["a", "b"], draining }, 8)) t.same(order, ["b", "a"]);
  t.same(await owners({ nodes: ["a"], draining }, 2), ["a", "a"]);
});

t.test("an operator's wish comes first while that node lives, and counts for its share", async (t) => {
  const wants = new Map([0, 1, 2, 3, 4, 5, 6, 7].map((partition) => [partition, "b"]));
  const all = await owners({ nodes: ["a", "b"], wants });
  t.equal(countOf(all.slice(0, 8), "b"), 8);
  t.equal(countOf(all, "b"), 8);
  t.equal(countOf(await owners({ nodes: ["a", "c"], wants }), "b"), 0);
});

t.test("there is nobody to own anything", async (t) => {
  t.same(await owners({ nodes: [] }, 2), [undefined, undefined]);
});

t.test("what is kept from before makes no difference, whatever comes and goes", async (t) => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = new SeededRandom(seed);
    const partitions = random.between(1, 40);
    const placement = new Placement(partitions);
    for (let change = 0; change < 12; change++) {
      const nodes = Array.from({ length: 12 }, (_, index) => `n${index}`).filter(() => random.chance(0.6));
      const draining = new Set(nodes.filter(() => random.chance(0.2)));
      const wants = new Map<number, string>();
      for (let partition = 0; partition < partitions; partition++)
        if (random.chance(0.1)) wants.set(partition, `n${random.between(0, 13)}`);
      const input = { nodes, draining, wants };
      t.same(await orders(input, partitions, placement), modelOrders(input, partitions), `seed ${seed}`);
    }
  }
});

t.test("nothing is worked out anew while nodes and wishes are the same", async (t) => {
  const placement = new Placement(16);
  const first = await placement.place({ nodes: ["a", "b"], ...NOBODY });
  t.equal(await placement.place({ nodes: ["b", "a"], ...NOBODY }), first);
  t.not(await placement.place({ nodes: ["b", "a"], ...NOBODY, wants: new Map([[1, "a"]]) }), first);
});

t.test("many nodes and partitions are worked on in many turns", async (t) => {
  const placement = new Placement(1024);
  let turns = 0;
  const tick = (): void => {
    turns++;
    next = setImmediate(tick);
  };
  let next = setImmediate(tick);
  await placement.place({ nodes: Array.from({ length: 50 }, (_, index) => `n${index}`), ...NOBODY });
  clearImmediate(next);
  t.ok(turns > 5, `${turns} turns`);
});
