/**
 * CREATE INDEX … USING hnsw and USING text (also as `gin (to_tsvector('language', column))`): indexes for search by
 * likeness, of which only the definition is made here. Called by bind-ddl.ts.
 */
import type { CreateSearchIndexCommand, NewSearchIndex } from "../../catalog/ddl-command.js";
import { missingColumn } from "../../catalog/did-you-mean.js";
import { canSearch, indexedDimensionsMax } from "../../catalog/search-index-ddl.js";
import type { ColumnDef, SearchIndexDef, TableDef, VectorIndexDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import { VECTOR_DIMENSIONS_MAX } from "../../protocol/limits.js";
import type { ScalarFunction } from "../../query/expr/expr.js";
import { formOf } from "../../query/expr/form-of.js";
import { displayName } from "../../query/expr/types.js";
import { someExpr } from "../../query/expr/walk.js";
import { TEXT_SEARCH_CONFIGS } from "../../values/text-search-configs.js";
import { TRIGRAMS } from "../../values/trigrams.js";
import { type SqlType, typeOf } from "../../values/values.js";
import {
  BIT_METRICS,
  DEFAULT_METRIC,
  METRIC_ENTRIES,
  METRIC_NAMES,
  metricNamed,
  operatorClassFor,
  type VectorMetric,
} from "../../values/vector-metric.js";
import type { CreateIndexStatement, IndexElement, OptionNode } from "../parse/ast-definitions.js";
import type { CallNode, ExprNode } from "../parse/ast-query.js";
import type { ConstraintOf } from "./bind-constraint.js";
import { bindBoolean, bindExpr } from "./bind-expr.js";
import { lookUpTable } from "./bind-from.js";
import { indexPredicate } from "./bind-index.js";
import type { Binding } from "./binding.js";
import { columnsRead, rowContext } from "./stored-expression.js";

/** Of each the type that it is for, and the metric. */
const OPERATOR_CLASSES: ReadonlyMap<string, readonly [string, VectorMetric]> = new Map([
  ...["vector", "halfvec", "sparsevec"].flatMap((type) =>
    METRIC_ENTRIES.map(([metric]) => [operatorClassFor(metric, type), [type, metric]] as const),
  ),
  ...BIT_METRICS.map(({ operatorClass, metric }) => [operatorClass, ["bit", metric]] as const),
]);

const METRICS: Readonly<Record<string, VectorMetric>> = Object.fromEntries(
  METRIC_NAMES.map((name) => [name, metricNamed(name)!]),
);

const STORAGES: Readonly<Record<string, VectorIndexDef["storage"]>> = {
  f32: "f32",
  float32: "f32",
  none: "f32",
  int8: "int8",
  binary: "binary",
};

/** As statements name it. */
type VectorMethod = "hnsw" | "ivfflat";

const IVFFLAT_NOTICE = 'access method "ivfflat" is not available; the index is made with "hnsw", which has no lists';

const DECLARED_NOTICE = "such an index of the kind hnsw is a definition alone here: queries read the rows";

const LANGUAGES: ReadonlySet<string> = new Set(TEXT_SEARCH_CONFIGS);
const DEFAULT_LANGUAGE = "english";

/** The statement's index, if it is one for search; null for all other kinds. */
export function bindSearchIndex(node: CreateIndexStatement, binding: Binding): CreateSearchIndexCommand | null {
  const method = searchMethod(node);
  if (method === null) return null;
  refuseParts(node, method);
  const table = lookUpTable(node.table, binding);
  if (table.partitionKey !== undefined) {
    const message = `an index of the kind ${method} on a partitioned table is not supported yet`;
    throw sqlError("0A000", message, { position: node.position, hint: "Create one on each partition." });
  }
  const index =
    method === "hnsw"
      ? vectorIndex(node, table, binding)
      : isTrigrams(node)
        ? trigramIndex(node, table)
        : textIndex(node, table);
  return {
    kind: "create search index",
    name: node.name,
    table: { schema: table.schema, name: table.name, position: node.table.position },
    ifNotExists: node.ifNotExists,
    ...index,
    notices: [
      ...(node.method === "ivfflat" ? [IVFFLAT_NOTICE] : []),
      ...(method === "hnsw" && index.vector === undefined ? [DECLARED_NOTICE] : []),
    ],
  };
}

function searchMethod({ method, elements }: CreateIndexStatement): SearchIndexDef["method"] | null {
  if (method === "hnsw" || method === "vector" || method === "ivfflat") return "hnsw";
  if (method === "text" || method === "fulltext") return "text";
  if (isTrigrams({ method, elements })) return "text";
  const isText = (method === "gin" || method === "gist") && elements.every(({ expr }) => documentCall(expr) !== null);
  return isText ? "text" : null;
}

/** `gin (column gin_trgm_ops, …)`; of expressions only the definition is kept (bind-declared-index.ts). */
function isTrigrams({ method, elements }: Pick<CreateIndexStatement, "method" | "elements">): boolean {
  if (method !== "gin" && method !== "gist") return false;
  return elements.every(({ column, operatorClass }) => column !== null && operatorClass === `${method}_trgm_ops`);
}

function trigramIndex({ elements, position }: CreateIndexStatement, table: TableDef): NewSearchIndex {
  const columns = elements.map(({ column }) => columnNamed(column!, table, position));
  const wrong = columns.find(({ type }) => !canSearch("text", type));
  if (wrong !== undefined) {
    const { operatorClass } = elements[0]!;
    const message = `operator class "${operatorClass}" does not accept data type ${displayName(wrong.type)}`;
    throw sqlError("42804", message, { position });
  }
  const names = [...new Set(columns.map(({ name }) => name))];
  return { method: "text", columns: names, text: { language: TRIGRAMS, trigrams: true } };
}

/** What an ordered index may have and these do not. Throws 0A000. */
function refuseParts(node: CreateIndexStatement, method: SearchIndexDef["method"]): void {
  const refuse = (what: string) =>
    sqlError("0A000", `access method "${method}" does not support ${what}`, { position: node.position });
  if (node.unique) throw refuse("unique indexes");
  if (node.including.length > 0) throw refuse("included columns");
  if (method === "hnsw" && node.elements.length > 1) throw refuse("multicolumn indexes");
  if (node.where !== null && method !== "hnsw") throw refuse("partial indexes");
  if (node.elements.some(({ descending }) => descending)) throw refuse("ASC/DESC options");
  if (node.elements.some(({ nullsFirst }) => nullsFirst !== null)) throw refuse("NULLS FIRST/LAST options");
}

function vectorIndex(node: CreateIndexStatement, table: TableDef, binding: Binding): NewSearchIndex {
  const { position } = node;
  const element = node.elements[0]!;
  const { column, form } = searched(element, table, position, binding);
  const method = node.method === "ivfflat" ? "ivfflat" : "hnsw";
  if (isUnsearched(element, column.type)) {
    const { operatorClass } = element;
    if (node.where !== null) throw noPartial(node);
    const declared = { keys: [{ column: column.name, ...(operatorClass !== null && { operatorClass }) }] };
    return { method: "hnsw", columns: [column.name], declared };
  }
  const { operatorClass } = element;
  if (column.type.name === "varbit" && operatorClass?.startsWith("bit_")) throw notOfBits(column, method, position);
  if (!canSearch("hnsw", column.type)) throw notSearchable(method, column, position);
  const named = operatorClass === null ? null : OPERATOR_CLASSES.get(operatorClass);
  // pgvector has no lists by those distances.
  if (named === undefined || (method === "ivfflat" && ["l1", "jaccard"].includes(named?.[1] ?? ""))) {
    const message = `operator class "${operatorClass}" does not exist for access method "${method}"`;
    throw sqlError("42704", message, { position });
  }
  if (named !== null && named[0] !== column.type.name) {
    const message = `operator class "${operatorClass}" does not accept data type ${column.type.name}`;
    const hint = `Use one of the classes of ${column.type.name}, such as ${operatorClassFor(named[1], column.type.name)}.`;
    throw sqlError("42804", message, { position, hint });
  }
  if (column.type.name === "bit") checkBits(column, named, method, position);
  const byClass = named === null ? null : named[1];
  if (method === "ivfflat") checkLists(node.options);
  const options = method === "ivfflat" ? [] : node.options;
  const vector = { ...vectorOptions(options, byClass), ...(form && { form }) };
  const where = node.where === null ? {} : { where: partialOf(node.where, table, binding) };
  return { method: "hnsw", columns: [column.name], vector, ...where };
}

/** The condition is also asked outside of statements. Throws 0A000, 42P17. */
function partialOf(node: ExprNode, table: TableDef, binding: Binding) {
  const sql = indexPredicate(node, table, binding);
  const predicate = bindBoolean(node, "WHERE", rowContext(table, "index predicates", binding));
  const isAlone = ({ routine, deferred, needsContext }: ScalarFunction) => !routine && !deferred && !needsContext;
  if (someExpr(predicate, (expr) => expr.kind === "call" && !isAlone(expr.fn))) {
    throw sqlError("0A000", "such a function in the predicate of an hnsw index is not supported", {
      position: node.position,
      hint: "Possible are columns, constants, and the operators and functions that need no setting and no statement.",
    });
  }
  return { sql, columns: columnsRead(node) };
}

const noPartial = ({ where }: CreateIndexStatement) =>
  sqlError("0A000", "a partial index of the kind hnsw is not supported for such a column", {
    position: where!.position,
  });

/** What pgvector indexes and this index cannot have: only the definition is kept, so that schemas can be loaded. */
function isUnsearched({ column }: IndexElement, { name, modifier }: SqlType): boolean {
  return column !== null && name === "sparsevec" && modifier !== null && modifier > VECTOR_DIMENSIONS_MAX;
}

/** The column, with the type of what is compared of it. Throws 0A000 for an expression that an index cannot have. */
function searched(element: IndexElement, table: TableDef, position: number, binding: Binding) {
  const column = plainColumn(element, table, position);
  if (column !== null) return { column };
  const formed = formOf(bindExpr(element.expr!, rowContext(table, "index expressions", binding)));
  if (formed === null) {
    throw sqlError("0A000", "an index of the kind hnsw cannot be on such an expression", {
      position,
      hint: `Possible are (column::vector(n)), (column::halfvec(n)), (column::bit(n)), (binary_quantize(column)::bit(n)) and (subvector(column, start, count)::vector(n)), with up to ${VECTOR_DIMENSIONS_MAX} dimensions.`,
    });
  }
  const { form } = formed;
  const type = typeOf(form.type, form.dimensions);
  return { column: { ...columnNamed(formed.column.name, table, position), type }, form };
}

/** In pgvector's words. */
const notOfBits = ({ name }: ColumnDef, method: VectorMethod, position: number) =>
  sqlError("22023", `type not supported for ${method} index`, {
    position,
    hint: `Declare "${name}" as bit(n), with the length of its values.`,
  });

/** Bits have no class by default, as in pgvector. Throws 42704. */
function checkBits({ type }: ColumnDef, operatorClass: object | null, method: VectorMethod, position: number): void {
  if (operatorClass !== null) return;
  const message = `data type ${displayName(type)} has no default operator class for access method "${method}"`;
  const classes = BIT_METRICS.map((each) => each.operatorClass).join(" or ");
  throw sqlError("42704", message, { position, hint: `Name the class: ${classes}.` });
}

/** What pgvector takes for an index that keeps vectors in lists; the index that is made has none. */
function checkLists(options: readonly OptionNode[]): void {
  for (const option of options) {
    const { name, position } = option;
    if (name !== "lists") throw sqlError("22023", `unrecognized parameter "${name}"`, { position });
    integerOption(option, 1, 32_768);
  }
}

function vectorOptions(options: readonly OptionNode[], byClass: VectorMetric | null): VectorIndexDef {
  let metric = byClass;
  let m = 16;
  let efConstruction: number | null = null;
  let efSearch: number | null = null;
  let storage: VectorIndexDef["storage"] = "f32";
  for (const option of options) {
    const { name, position } = option;
    if (name === "m") m = integerOption(option, 2, 100);
    else if (name === "ef_construction") efConstruction = integerOption(option, 4, 1000);
    else if (name === "ef_search") efSearch = integerOption(option, 1, 1000);
    else if (name === "storage" || name === "quantization") storage = wordOption(option, STORAGES);
    else if (name === "metric" || name === "distance_metric") {
      metric = wordOption(option, METRICS);
      if (byClass !== null && metric !== byClass) {
        const message = `the operator class is of the metric ${byClass}, not ${metric}`;
        throw sqlError("22023", message, { position });
      }
    } else throw sqlError("22023", `unrecognized parameter "${name}"`, { position });
  }
  if (efConstruction !== null && efConstruction < 2 * m) {
    const { position } = options.find(({ name }) => name === "ef_construction")!;
    throw sqlError("22023", "ef_construction must be greater than or equal to 2 * m", { position });
  }
  const made = efConstruction ?? Math.max(64, 2 * m);
  return { metric: metric ?? DEFAULT_METRIC, m, efConstruction: made, storage, ...(efSearch !== null && { efSearch }) };
}

function integerOption({ name, value, position }: OptionNode, min: number, max: number): number {
  if (!/^-?\d+$/.test(String(value))) {
    throw sqlError("22023", `invalid value for integer option "${name}": ${value}`, { position });
  }
  const number = Number(value);
  if (number < min || number > max) {
    throw sqlError("22023", `value ${value} out of bounds for option "${name}"`, {
      position,
      detail: `Valid values are between "${min}" and "${max}".`,
    });
  }
  return number;
}

function wordOption<T>({ name, value, position }: OptionNode, words: Readonly<Record<string, T>>): T {
  const word = String(value).toLowerCase();
  if (Object.hasOwn(words, word)) return words[word]!;
  throw sqlError("22023", `invalid value for option "${name}": ${value}`, {
    position,
    detail: `Valid values are ${Object.keys(words).join(", ")}.`,
  });
}

/** `FULLTEXT INDEX i (a, b)` in the definition of a table. */
export function bindTextIndex({ name, elements, position }: ConstraintOf<"exclude">, table: TableDef): NewSearchIndex {
  return { ...textIndex({ elements, position, options: [], method: "text" }, table), name };
}

function textIndex(
  node: Pick<CreateIndexStatement, "elements" | "position" | "options" | "method">,
  table: TableDef,
): NewSearchIndex {
  const { position } = node;
  let language: string | null = null;
  const speak = (name: string, at: number) => {
    const known = name.toLowerCase().replace(/^pg_catalog\./, "");
    if (!LANGUAGES.has(known)) {
      throw sqlError("42704", `text search configuration "${name}" does not exist`, { position: at });
    }
    if (language !== null && language !== known) {
      throw sqlError("0A000", "a text index of several languages is not supported yet", { position: at });
    }
    language = known;
  };
  for (const { name, value, position: at } of node.options) {
    if (name !== "language" && name !== "config") {
      if (node.method === "gin" && (name === "fastupdate" || name === "gin_pending_list_limit")) continue;
      throw sqlError("22023", `unrecognized parameter "${name}"`, { position: at });
    }
    speak(String(value), at);
  }
  const columns = node.elements.flatMap((element): ColumnDef[] => {
    const column = plainColumn(element, table, position);
    if (column !== null) return [column];
    const call = documentCall(element.expr);
    if (call === null) throw notDocument(position);
    if (call.args.length === 2) speak(languageOf(call.args[0]!.value) ?? "", call.position);
    return documentColumns(call.args.at(-1)!.value, table);
  });
  const names = [...new Set(columns.map(({ name }) => name))];
  const wrong = columns.find(({ type }) => !canSearch("text", type));
  if (wrong !== undefined) throw notSearchable("text", wrong, position);
  if (names.length === 0) throw notDocument(position);
  return { method: "text", columns: names, text: { language: language ?? DEFAULT_LANGUAGE } };
}

const notDocument = (position: number) =>
  sqlError("0A000", "a text index is on columns, joined with || and coalesce, and on nothing else", { position });

/** `to_tsvector([language,] text)` with a constant language. */
function documentCall(expr: ExprNode | null): CallNode | null {
  if (expr?.kind !== "call" || expr.path.at(-1) !== "to_tsvector") return null;
  const { args } = expr;
  if (args.length === 1) return expr;
  return args.length === 2 && languageOf(args[0]!.value) !== null ? expr : null;
}

function languageOf(expr: ExprNode): string | null {
  if (expr.kind === "cast") return languageOf(expr.input);
  return expr.kind === "string" ? expr.value : null;
}

/** The columns of `a`, `coalesce(a, '')`, `a::text` and of such with text between them. */
function documentColumns(expr: ExprNode, table: TableDef): ColumnDef[] {
  switch (expr.kind) {
    case "string":
      return [];
    case "column":
      return [columnNamed(expr.path.at(-1)!, table, expr.position)];
    case "cast":
      return documentColumns(expr.input, table);
    case "coalesce":
      return expr.args.flatMap((arg) => documentColumns(arg, table));
    case "operator":
      if (expr.name !== "||" || expr.left === null) throw notDocument(expr.position);
      return [...documentColumns(expr.left, table), ...documentColumns(expr.right, table)];
    default:
      throw notDocument(expr.position);
  }
}

function plainColumn({ column, expr }: IndexElement, table: TableDef, position: number): ColumnDef | null {
  const name = column ?? (expr?.kind === "column" && expr.path.length === 1 ? expr.path[0]! : null);
  return name === null ? null : columnNamed(name, table, position);
}

function columnNamed(name: string, table: TableDef, position: number): ColumnDef {
  const found = table.columns.find((other) => other.name === name);
  if (found === undefined) throw missingColumn(name, table, position, `column "${name}"`);
  return found;
}

function notSearchable(method: VectorMethod | "text", { name, type }: ColumnDef, position: number): Error {
  const isVector = ["vector", "halfvec", "sparsevec"].includes(type.name) && type.element === null;
  const isLong = method !== "text" && (isVector || type.name === "bit") && type.modifier !== null;
  if (isLong) {
    const message = `column cannot have more than ${indexedDimensionsMax(type)} dimensions for ${method} index`;
    return sqlError("54000", message, { position });
  }
  if (isVector && method !== "text") {
    return sqlError("22023", "column does not have dimensions", {
      position,
      hint: `Declare "${name}" as ${type.name}(n), with the length of its vectors.`,
    });
  }
  const message = `data type ${displayName(type)} has no default operator class for access method "${method}"`;
  throw sqlError("42704", message, {
    position,
    hint:
      method !== "text"
        ? "An hnsw index needs a column of type vector(n), halfvec(n), sparsevec(n) or bit(n)."
        : "A text index needs columns of type text.",
  });
}
