/** The graph of bench/graph: nodes 1 … `nodes`, and arrows between two different ones at random, from a fixed seed. */
export interface Data {
  readonly nodes: number;
  readonly edges: readonly (readonly [from: number, to: number])[];
}

/** mulberry32. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** No arrow comes twice, so that relationships and rows of two numbers are the same. */
export function graphData(nodes: number, count: number, seed = 1): Data {
  const random = randomFrom(seed);
  const node = () => 1 + Math.floor(nodes * random());
  const seen = new Set<number>();
  const edges: (readonly [number, number])[] = [];
  while (edges.length < count) {
    // Each node has an arrow: what PageRank makes of others is defined differently by different systems.
    const [from, to] = [edges.length < nodes ? edges.length + 1 : node(), node()];
    const key = from * (nodes + 1) + to;
    if (from === to || seen.has(key)) continue;
    seen.add(key);
    edges.push([from, to]);
  }
  return { nodes, edges };
}
