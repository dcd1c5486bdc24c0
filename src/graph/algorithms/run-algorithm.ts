/**
 * The algorithms by name, their options as requests give them, and the run of one: what a task thread does with a job.
 * `query/exec/graph-algorithm.ts` makes jobs.
 */
import { DbError } from "../../protocol/errors.js";
import { nearestName } from "../../protocol/nearest-name.js";
import type { Algorithm, AlgorithmGraph, AlgorithmResult, OptionDef, Options, OptionValue } from "./algorithm.js";
import { betweenness } from "./betweenness.js";
import { closeness } from "./closeness.js";
import { stronglyConnectedComponents, weaklyConnectedComponents } from "./components.js";
import { degree } from "./degree.js";
import { kCore } from "./k-core.js";
import { labelPropagation } from "./label-propagation.js";
import { louvain } from "./louvain.js";
import { nodeSimilarity } from "./node-similarity.js";
import { pageRank } from "./page-rank.js";
import { bfs, dijkstra } from "./shortest-paths.js";
import { triangleCount } from "./triangle-count.js";

export const ALGORITHMS: readonly Algorithm[] = [
  pageRank,
  louvain,
  labelPropagation,
  triangleCount,
  weaklyConnectedComponents,
  stronglyConnectedComponents,
  betweenness,
  closeness,
  degree,
  bfs,
  dijkstra,
  kCore,
  nodeSimilarity,
];

/** What goes to a task thread. */
export interface AlgorithmJob {
  readonly algorithm: string;
  readonly graph: AlgorithmGraph;
  readonly options: Options;
  /** Two numbers that both threads see: how far it is, in thousandths, and whether it is to end (1). */
  readonly control: Int32Array;
}

/** page_rank, pageRank and PageRank are the same. */
function plain(name: string): string {
  return name.replace(/[\s_-]/g, "").toLowerCase();
}

/** Throws `invalid_request` for one that does not exist. */
export function algorithmNamed(name: string): Algorithm {
  const wanted = plain(name);
  const found = ALGORITHMS.find((one) => [one.name, ...(one.aliases ?? [])].some((known) => plain(known) === wanted));
  if (found !== undefined) return found;
  const names = ALGORITHMS.map((one) => one.name).join(", ");
  const near = nearestName(
    name,
    ALGORITHMS.map((one) => one.name),
  );
  throw new DbError("invalid_request", `there is no graph algorithm "${name}"; there are ${names}`, {
    field: "algorithm",
    ...(near !== null && { hint: `Did you mean "${near}"?` }),
  });
}

function optionNamed({ options }: Algorithm, name: string): OptionDef | undefined {
  const wanted = plain(name);
  return options.find((one) => [one.name, ...(one.aliases ?? [])].some((known) => plain(known) === wanted));
}

/** Options that clients send with every algorithm: page rank has them. */
const COMMON = new Set(["max_iterations", "damping_factor"].map(plain));

/** Whether the option is one that clients send with every algorithm, though it means nothing for this one. */
export function meansNothing(algorithm: Algorithm, option: string): boolean {
  return COMMON.has(plain(option)) && optionNamed(algorithm, option) === undefined;
}

/** Options with their defaults, checked; a node is given by its id. Throws `invalid_request`. */
export function checkedOptions(algorithm: Algorithm, given: Readonly<Record<string, unknown>>): Options {
  const options: Record<string, OptionValue> = {};
  for (const def of algorithm.options) if (def.default !== undefined) options[def.name] = def.default;
  for (const [name, value] of Object.entries(given)) {
    const def = optionNamed(algorithm, name);
    if (def === undefined) {
      const names = algorithm.options.map((one) => one.name).join(", ");
      throw wrong(`${algorithm.name} has no option "${name}"${names === "" ? "" : `; it has ${names}`}`);
    }
    if (value !== null || def.default === null) options[def.name] = checked(def, value, name);
  }
  for (const { name } of algorithm.options) {
    if (options[name] === undefined) throw wrong(`${algorithm.name} needs the option "${name}"`);
  }
  return options;
}

/** `name`: the client's for it. */
function checked(def: OptionDef, value: unknown, name: string): OptionValue {
  if (value === null) return null;
  const { type, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = def;
  if (type === "boolean" || type === "text") {
    if (typeof value !== (type === "text" ? "string" : "boolean"))
      throw wrong(`The option "${name}" must be ${type === "text" ? "a string" : "true or false"}.`, name);
    if (def.values !== undefined && !def.values.includes(value as string)) {
      throw wrong(`The option "${name}" must be one of ${def.values.join(", ")}.`, name);
    }
    return value as string | boolean;
  }
  if (typeof value !== "number" || (type !== "float" && !Number.isInteger(value))) {
    throw wrong(`The option "${name}" must be ${type === "float" ? "a number" : "a whole number"}.`, name);
  }
  if (!(value >= min && (def.isBelowMax ? value < max : value <= max))) {
    throw wrong(`The option "${name}" must be ${rangeOf(def)}, not ${value}.`, name);
  }
  return value;
}

function rangeOf({ min, max, isBelowMax }: OptionDef): string {
  if (min !== undefined && max !== undefined && !isBelowMax) return `from ${min} to ${max}`;
  const bounds = [
    ...(min === undefined ? [] : [`at least ${min}`]),
    ...(max === undefined ? [] : [`${isBelowMax ? "less than" : "at most"} ${max}`]),
  ];
  return bounds.join(" and ");
}

/** `option`: which one is to be mended. */
function wrong(message: string, option?: string): DbError {
  return new DbError("invalid_request", message, option === undefined ? undefined : { field: `options.${option}` });
}

/** Throws DbError `invalid_request` for what the graph does not allow, and `cancelled` when it was told to end. */
export function runAlgorithm({ algorithm, graph, options, control }: AlgorithmJob): AlgorithmResult {
  const found = algorithmNamed(algorithm);
  let most = 0;
  return found.run(graph, withIndexes(found, graph, options), (done) => {
    most = Math.max(most, done);
    Atomics.store(control, 0, Math.round(1000 * most));
    if (Atomics.load(control, 1) === 1) throw new DbError("cancelled", "the algorithm was told to end");
  });
}

/** Nodes by their places among the graph's. */
function withIndexes(algorithm: Algorithm, { nodes }: AlgorithmGraph, options: Options): Options {
  const own = algorithm.options.filter(({ name, type }) => type === "node" && options[name] !== null);
  const places = own.map(({ name }) => {
    const place = nodes.indexOf(options[name] as number);
    if (place === -1) throw wrong(`the node ${options[name]} that option "${name}" names is not in the graph`);
    return [name, place] as const;
  });
  return { ...options, ...Object.fromEntries(places) };
}
