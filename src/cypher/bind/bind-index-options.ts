/**
 * OPTIONS of CREATE VECTOR INDEX and CREATE FULLTEXT INDEX: Neo4j's names, with or without `indexConfig` around them.
 */
import type { TextIndexDef, VectorIndexDef } from "../../catalog/table.js";
import { type DbError, sqlError } from "../../protocol/errors.js";
import { VECTOR_DIMENSIONS_MAX } from "../../protocol/limits.js";
import { TEXT_SEARCH_CONFIGS } from "../../values/text-search-configs.js";
import { DEFAULT_METRIC, metricNamed } from "../../values/vector-metric.js";
import type { Expr } from "../parse/ast.js";

type Option = { readonly name: string; readonly value: Expr };

const STORAGES: readonly VectorIndexDef["storage"][] = ["f32", "int8", "binary"];

/**
 * `dimensions`, `similarity_function`, `m`, `ef_construction`, `storage`. Throws 22023 for what is not one of these.
 */
export function vectorOptions(
  options: Expr | null,
  position: number,
): VectorIndexDef & { readonly dimensions: number } {
  let dimensions: number | null = null;
  let metric = DEFAULT_METRIC;
  let m = 16;
  let efConstruction: number | null = null;
  let storage: VectorIndexDef["storage"] = "f32";
  for (const option of optionsIn(options, "vector.")) {
    switch (option.name) {
      case "dimensions":
        dimensions = integer(option, 1, VECTOR_DIMENSIONS_MAX);
        break;
      case "similarity_function":
      case "metric":
        metric = metricNamed(text(option)) ?? refused(option);
        break;
      case "m":
      case "hnsw.m":
        m = integer(option, 2, 100);
        break;
      case "ef_construction":
      case "hnsw.ef_construction":
        efConstruction = integer(option, 4, 1000);
        break;
      case "quantization.enabled":
        if (option.value.kind !== "boolean") refused(option);
        if (option.value.value) storage = "int8";
        break;
      case "storage":
        storage = STORAGES.find((name) => name === text(option)) ?? refused(option);
        break;
      default:
        throw unknown(option);
    }
  }
  if (dimensions === null) {
    throw sqlError("22023", "a vector index needs the option `vector.dimensions`", { position: position + 1 });
  }
  return { dimensions, metric, m, efConstruction: efConstruction ?? Math.max(64, 2 * m), storage };
}

/** Neo4j's names of analyzers that do what a configuration of ours does. */
const ANALYZERS: ReadonlyMap<string, string> = new Map([["standard-no-stop-words", "simple"]]);

/** All that an index can have, with what they are. */
export const analyzers = (): readonly (readonly [name: string, description: string])[] => [
  ...TEXT_SEARCH_CONFIGS.map(
    (name) => [name, name === "simple" ? "Words as they are." : `Words of ${name}, stemmed.`] as const,
  ),
  ...[...ANALYZERS].map(([name, ours]) => [name, `The same as ${ours}.`] as const),
];

/** A configuration of ours, or the analyzer of Neo4j that means it. Throws 22023. */
function analyzer(option: Option): string {
  const name = text(option).toLowerCase();
  const language = ANALYZERS.get(name) ?? name;
  if (TEXT_SEARCH_CONFIGS.includes(language)) return language;
  throw sqlError("22023", `there is no analyzer "${name}"`, {
    position: option.value.position + 1,
    hint: `There are: ${TEXT_SEARCH_CONFIGS.join(", ")}, and Neo4j's ${[...ANALYZERS.keys()].join(", ")}.`,
  });
}

/** `analyzer` (or `language`): a text search configuration, "english" unless told otherwise. */
export function fulltextOptions(options: Expr | null): TextIndexDef {
  let language = "english";
  for (const option of optionsIn(options, "fulltext.")) {
    // An index is always consistent here.
    if (option.name === "eventually_consistent" && option.value.kind === "boolean") continue;
    if (option.name !== "analyzer" && option.name !== "language") throw unknown(option);
    language = analyzer(option);
  }
  return { language };
}

function optionsIn(options: Expr | null, prefix: string): readonly Option[] {
  if (options === null) return [];
  if (options.kind !== "map") throw sqlError("22023", "OPTIONS takes a map", { position: options.position + 1 });
  return options.entries.flatMap(({ key, value }) => {
    if (key === "indexConfig") return optionsIn(value, prefix);
    if (key === "indexProvider") return [];
    return { name: key.startsWith(prefix) ? key.slice(prefix.length) : key, value };
  });
}

function integer(option: Option, min: number, max: number): number {
  const { value } = option;
  if (value.kind !== "integer" || value.value < min || value.value > max) refused(option);
  return Number((value as { readonly value: number | bigint }).value);
}

function text(option: Option): string {
  return option.value.kind === "string" ? option.value.value : refused(option);
}

function refused({ name, value }: Option): never {
  throw sqlError("22023", `invalid value for option "${name}"`, { position: value.position + 1 });
}

function unknown({ name, value }: Option): DbError {
  return sqlError("22023", `unrecognized option "${name}"`, { position: value.position + 1 });
}
