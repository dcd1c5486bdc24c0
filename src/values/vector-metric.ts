/**
 * The metrics that vectors are compared by: all that is to be said of one stands here. The walk of an index measures
 * with code of its own (vector/wasm/distance.ts), under the number that `wasm` gives.
 */
import {
  cosineDistance,
  cosineSimilarity,
  innerProduct,
  jaccardDistance,
  l1Distance,
  l2Distance,
} from "./vector-math.js";

export interface MetricFacts {
  /** As clients write it, in collections, in SQL's WITH and in Cypher's OPTIONS. The first is the metric's own name. */
  readonly names: readonly string[];
  /** pgvector's operator class, for the type vector. */
  readonly operatorClass: string;
  /** SQL's operator for the distance. */
  readonly operator: string;
  /** Smaller is nearer. Both vectors have the same length. */
  readonly distance: (a: Float32Array, b: Float32Array) => number;
  /** SQL's functions that give the distance. */
  readonly distanceFunctions: readonly string[];
  /** Grows with likeness; by SQL's functions of these names. */
  readonly likeness?: { readonly functions: readonly string[]; of(a: Float32Array, b: Float32Array): number };
  /** A score that grows with likeness, as searches tell it, and the largest distance whose score is at least that. */
  readonly scoreOf: (distance: number) => number;
  readonly distanceOf: (score: number) => number;
  /** The same score in SQL, of an expression that gives the distance. */
  readonly scoreSql: (distance: string) => string;
  /** The score of Cypher's procedures, from 0 to 1 as Neo4j computes it; of inner products the product. */
  readonly neo4jScoreOf: (distance: number) => number;
  /** Its constant in vector/wasm/distance.ts. Saved graphs hold it too: never change one. */
  readonly wasm: number;
  /** The distance, from what the walk of an index measures; absent: they are the same. */
  readonly ofMeasured?: (measured: number) => number;
}

const FACTS = {
  cosine: {
    names: ["cosine"],
    operatorClass: "vector_cosine_ops",
    operator: "<=>",
    distance: cosineDistance,
    distanceFunctions: ["cosine_distance"],
    likeness: { functions: ["cosine_similarity"], of: cosineSimilarity },
    scoreOf: (distance: number) => 1 - distance,
    distanceOf: (score: number) => 1 - score,
    scoreSql: (distance: string) => `1 - (${distance})`,
    neo4jScoreOf: (distance: number) => 1 - distance / 2,
    wasm: 0,
  },
  l2: {
    names: ["l2", "euclidean"],
    operatorClass: "vector_l2_ops",
    operator: "<->",
    distance: l2Distance,
    distanceFunctions: ["l2_distance", "euclidean_distance"],
    scoreOf: (distance: number) => 1 / (1 + distance),
    distanceOf: (score: number) => (score <= 0 ? Number.POSITIVE_INFINITY : 1 / score - 1),
    scoreSql: (distance: string) => `1 / (1 + (${distance}))`,
    neo4jScoreOf: (distance: number) => 1 / (1 + distance * distance),
    wasm: 1,
    // Roots keep the order, so the walk does without.
    ofMeasured: Math.sqrt,
  },
  dot: {
    names: ["dot", "dot_product", "inner_product", "ip"],
    operatorClass: "vector_ip_ops",
    operator: "<#>",
    distance: (a: Float32Array, b: Float32Array) => 0 - innerProduct(a, b),
    distanceFunctions: [],
    likeness: { functions: ["inner_product", "dot_product"], of: innerProduct },
    scoreOf: (distance: number) => 0 - distance,
    distanceOf: (score: number) => 0 - score,
    scoreSql: (distance: string) => `0 - (${distance})`,
    neo4jScoreOf: (distance: number) => 0 - distance,
    wasm: 2,
  },
  l1: {
    names: ["l1", "manhattan", "taxicab"],
    operatorClass: "vector_l1_ops",
    operator: "<+>",
    distance: l1Distance,
    distanceFunctions: ["l1_distance"],
    scoreOf: (distance: number) => 1 / (1 + distance),
    distanceOf: (score: number) => (score <= 0 ? Number.POSITIVE_INFINITY : 1 / score - 1),
    scoreSql: (distance: string) => `1 / (1 + (${distance}))`,
    neo4jScoreOf: (distance: number) => 1 / (1 + distance),
    wasm: 3,
  },
  /** Of bits only, so that it has no name for clients. */
  jaccard: {
    names: [],
    operatorClass: "bit_jaccard_ops",
    operator: "<%>",
    distance: jaccardDistance,
    distanceFunctions: ["jaccard_distance"],
    scoreOf: (distance: number) => 1 - distance,
    distanceOf: (score: number) => 1 - score,
    scoreSql: (distance: string) => `1 - (${distance})`,
    neo4jScoreOf: (distance: number) => 1 - distance,
    wasm: 4,
  },
} as const satisfies Readonly<Record<string, MetricFacts>>;

export type VectorMetric = keyof typeof FACTS;

export const VECTOR_METRICS: Readonly<Record<VectorMetric, MetricFacts>> = FACTS;

export const DEFAULT_METRIC: VectorMetric = "cosine";

const ENTRIES = Object.entries(VECTOR_METRICS) as readonly (readonly [VectorMetric, MetricFacts])[];

const BY_NAME: ReadonlyMap<string, VectorMetric> = new Map(
  ENTRIES.flatMap(([metric, { names }]) => names.map((name) => [name, metric] as const)),
);

/** All names, for messages. */
export const METRIC_NAMES: readonly string[] = [...BY_NAME.keys()];

/** In any case; undefined: there is none of that name. */
export function metricNamed(name: string): VectorMetric | undefined {
  return BY_NAME.get(name.toLowerCase());
}

/** The metrics in the order of their numbers in WebAssembly. */
export const METRICS_BY_NUMBER: readonly VectorMetric[] = ENTRIES.toSorted(([, a], [, b]) => a.wasm - b.wasm).map(
  ([metric]) => metric,
);

/**
 * Bits are indexed as the numbers 0 and 1. The Euclidean distance of those is the root of how many bits differ, so it
 * ranks as the Hamming distance does.
 */
const HAMMING_METRIC: VectorMetric = "l2";
const HAMMING_CLASS = "bit_hamming_ops";

/** Of bits: the operator class, the metric, and SQL's names of the distance. */
export const BIT_METRICS: readonly { operatorClass: string; metric: VectorMetric; names: readonly string[] }[] = [
  { operatorClass: HAMMING_CLASS, metric: HAMMING_METRIC, names: ["<~>", "hamming_distance"] },
  { operatorClass: FACTS.jaccard.operatorClass, metric: "jaccard", names: ["<%>", "jaccard_distance"] },
];

/** pgvector's operator class of the metric for a type of vectors. */
export function operatorClassFor(metric: VectorMetric, type: string): string {
  if (type === "bit") return metric === HAMMING_METRIC ? HAMMING_CLASS : VECTOR_METRICS[metric].operatorClass;
  return VECTOR_METRICS[metric].operatorClass.replace("vector", type);
}

/** Entries of those for vectors of any numbers, for tables that are made of them. */
export const METRIC_ENTRIES = ENTRIES.filter(([metric]) => metric !== "jaccard");
