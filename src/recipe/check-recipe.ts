/**
 * Checks what a schema cannot express about a recipe: names are known and unique, versions are valid, defaults fit,
 * statements parse, and seeds are complete. Called by read-recipe.ts on a document of the right form.
 */
import { parseCypher } from "../cypher/parse/parse.js";
import { DbError } from "../protocol/errors.js";
import { RECIPE_SEED_ROWS_MAX } from "../protocol/limits.js";
import { parseSql } from "../sql/parse/parse.js";
import { tokenize } from "../sql/parse/tokens.js";
import { type BoundValue, bindStatement, namesIn } from "./bind-statement.js";
import { invalidRecipe, type Path, pathText, type SourceDocument } from "./document.js";
import { bindParameters, faultOfParameter } from "./parameters.js";
import {
  actionOf,
  conditionEnd,
  conditionQuery,
  type GraphSeed,
  placeWithin,
  type Recipe,
  type Statement,
  type Step,
  statementOf,
  type TableSeed,
} from "./recipe.js";
import { NAME_PATTERN } from "./recipe-schema.js";
import { isVersion, parseRange } from "./semver.js";

/** Statements that would end the recipe's transaction, or outlive it in its session. */
const REFUSED: ReadonlySet<string> = new Set(["transaction", "discard", "prepare", "execute", "deallocate"]);
/**
 * Functions, and statements that are calls of them once they are parsed, that work in transactions of their own or
 * outside of the tenant: neither could a certification try them nor a failing execution take them back.
 */
const REFUSED_CALLS: readonly (readonly [names: readonly string[], what: string, hint: string])[] = [
  [
    ["agent_run", "execute_agent"],
    "AGENT_RUN: an agent uses its own transactions, which a recipe cannot roll back",
    "Let the recipe prepare what the agent needs, and run the agent after it.",
  ],
  [
    [
      "automl_create_experiment",
      "automl_drop_experiment",
      "automl_deploy",
      "automl_experiments",
      "drop_model",
      "describe_model",
    ],
    "statements of AutoML work in transactions of their own, which a recipe could not take back",
    'Use a step with "train". Its training starts when the recipe commits.',
  ],
  [
    ["automl_predict", "automl_predict_proba", "automl_explain"],
    "AUTOML.PREDICT and similar functions use models that do not exist when the recipe is certified",
    "Use a step with predict.",
  ],
  [
    ["create_filesystem_collection", "drop_filesystem_collection"],
    "a recipe follows no folders of the server",
    "Let an admin create the filesystem collection. The recipe can then use its passages.",
  ],
  [
    ["create_backup", "list_backups"],
    "backups belong to the tenant's administration",
    "Back up before the recipe runs, or by a schedule.",
  ],
  [
    ["pull_model", "delete_model"],
    "models belong to the installation and not to a tenant",
    "Name the models that the recipe needs in its description.",
  ],
];
const NOTHING: ReadonlyMap<string, BoundValue> = new Map();

/** `keepPlace` is called for each statement's text. */
export function checkRecipe(recipe: Recipe, document: SourceDocument, keepPlace: (path: Path) => void): void {
  new RecipeCheck(recipe, document, keepPlace).run();
}

class RecipeCheck {
  constructor(
    private readonly recipe: Recipe,
    private readonly document: SourceDocument,
    private readonly keepPlace: (path: Path) => void,
  ) {}

  run(): void {
    const { recipe } = this;
    if (!isVersion(recipe.version)) this.fail("is no version such as 1.0.0", ["version"]);
    if (parseRange(recipe.engine) === null) this.fail("is no range of versions such as >=0.1.0 or ^1.2", ["engine"]);
    this.checkParameters();
    recipe.schema.forEach((item, i) => {
      const path = typeof item === "string" ? ["schema", i] : ["schema", i, languageOf(item)];
      this.checkStatement(statementOf(item), ["schema", i], path, NOTHING);
    });
    this.checkSeeds();
    this.checkWorkflow();
    this.checkTests();
  }

  private fail(fault: string, path: Path, hint?: string): never {
    throw invalidRecipe(fault, pathText(path), this.document.placeOf(path), hint);
  }

  private checkParameters(): void {
    for (const [name, parameter] of Object.entries(this.recipe.parameters)) {
      const path = ["parameters", name];
      if (!new RegExp(NAME_PATTERN).test(name)) this.fail("a name has letters, digits and _ (1 to 63)", path);
      const fault = faultOfParameter(parameter);
      if (fault !== null) this.fail(fault, path);
    }
  }

  private checkSeeds(): void {
    let rows = 0;
    this.recipe.seed.forEach((seed, i) => {
      const path = ["seed", i];
      if ("table" in seed) rows += this.checkTableSeed(seed, path);
      else if ("nodes" in seed) rows += this.checkGraphSeed(seed, path);
      else this.checkStatement(seed, path, [...path, languageOf(seed)], NOTHING);
    });
    if (rows > RECIPE_SEED_ROWS_MAX)
      this.fail(`all seeds together have at most ${RECIPE_SEED_ROWS_MAX} rows`, ["seed"]);
  }

  private checkTableSeed({ columns, rows }: TableSeed, path: Path): number {
    if (new Set(columns).size < columns.length) this.fail("a column is named twice", [...path, "columns"]);
    rows.forEach((row, r) => {
      if (row.length === columns.length) return;
      this.fail(`has ${row.length} values for ${columns.length} columns`, [...path, "rows", r]);
    });
    return rows.length;
  }

  private checkGraphSeed({ nodes, edges = [] }: GraphSeed, path: Path): number {
    const keys = new Set<string | number>();
    nodes.forEach(({ key }, n) => {
      if (keys.has(key)) this.fail(`another node has the key ${key}, too`, [...path, "nodes", n, "key"]);
      keys.add(key);
    });
    edges.forEach(({ from, to }, e) => {
      if (!keys.has(from)) this.fail(`no node has the key ${from}`, [...path, "edges", e, "from"]);
      if (!keys.has(to)) this.fail(`no node has the key ${to}`, [...path, "edges", e, "to"]);
    });
    return nodes.length + edges.length;
  }

  /** Each step knows the parameters and what the steps before it keep. */
  private checkWorkflow(): void {
    const { parameters, workflow } = this.recipe;
    const known = new Map<string, BoundValue>(
      Object.entries(parameters).map(([name, { type, items }]) => [
        name,
        { type, value: "x", ...(items !== undefined && { items }) },
      ]),
    );
    const names = new Set<string>();
    workflow.forEach((step, i) => {
      const path = ["workflow", i];
      if (names.has(step.name)) this.fail(`another step is called ${step.name}, too`, [...path, "name"]);
      names.add(step.name);
      const { sql, cypher, train, predict } = step;
      if ([sql, cypher, train, predict].filter((part) => part !== undefined).length !== 1) {
        this.fail("must have one of sql, cypher, train and predict", path);
      }
      if (step.graph !== undefined && cypher === undefined) this.fail("only cypher has a graph", [...path, "graph"]);
      const action = actionOf(step);
      this.checkStatement(action.statement, path, [...path, ...action.path], known);
      if (step.when !== undefined) this.checkCondition(step, path, known);
      if (step.keep === undefined) return;
      if (known.has(step.keep)) this.fail(`${step.keep} is taken already`, [...path, "keep"]);
      known.set(step.keep, { type: "rows", value: [] });
    });
  }

  private checkCondition({ when }: Step, path: Path, known: ReadonlyMap<string, BoundValue>): void {
    this.checkStatement(
      { sql: conditionQuery(when!) },
      path,
      [...path, "when"],
      known,
      conditionQuery("").indexOf("(") + 1,
    );
  }

  /** `path`: of the statement; `textPath`: of its text, before which `added` characters were put. */
  private checkStatement(
    statement: Statement,
    path: Path,
    textPath: Path,
    known: ReadonlyMap<string, BoundValue>,
    added = 0,
  ): void {
    const { sql, cypher, graph } = statement;
    if ((sql === undefined) === (cypher === undefined)) this.fail("must have one of sql and cypher", path);
    if (graph !== undefined && cypher === undefined) this.fail("only cypher has a graph", [...path, "graph"]);
    this.keepPlace(textPath);
    // The text that was put around a condition is not part of the document.
    const text = added === 0 ? (sql ?? cypher)! : sql!.slice(added, -conditionEnd.length);
    const parse = <T>(work: () => T, positionOf: (position: number) => number): T => {
      try {
        return work();
      } catch (error) {
        throw this.placed(error, textPath, text, (position) => Math.max(positionOf(position) - added, 1));
      }
    };
    const names = parse(
      () => namesIn(statement),
      (position) => position,
    );
    this.requireKnown(names, textPath, known);
    const numbered = sql === undefined ? undefined : tokenize(sql).find(({ kind }) => kind === "parameter");
    if (numbered !== undefined) this.fail(`write $name instead of ${numbered.text}`, textPath);
    const bound = bindStatement(statement, known);
    if (bound.language === "cypher") parse(() => parseCypher(bound.text), bound.position);
    else
      this.requireAllowed(
        parse(() => parseSql(bound.text), bound.position),
        textPath,
      );
  }

  private requireKnown(names: readonly string[], path: Path, known: ReadonlyMap<string, BoundValue>): void {
    const unknown = names.find((name) => !known.has(name));
    if (unknown === undefined) return;
    const hint =
      path[0] === "workflow"
        ? `Known here: ${[...known.keys()].join(", ") || "none"}. Declare it under "parameters", or store it in an earlier step.`
        : "Parameters can be used only in the workflow, not in schema and seed.";
    this.fail(`$${unknown} is not known`, path, hint);
  }

  private requireAllowed(statements: ReturnType<typeof parseSql>, path: Path): void {
    if (statements.length !== 1) this.fail(`must be one statement, not ${statements.length}`, path);
    const { node } = statements[0]!;
    if (REFUSED.has(node.kind)) {
      this.fail(`${node.kind} statements are not allowed: the recipe runs in one transaction of its own`, path);
    }
    const called = callsIn(node);
    const refused = REFUSED_CALLS.find(([names]) => names.some((name) => called.has(name)));
    if (refused !== undefined) this.fail(`${refused[1]}: not allowed in a recipe`, path, refused[2]);
  }

  /** A parser's error, where it is in the document. */
  private placed(error: unknown, path: Path, text: string, positionOf: (position: number) => number): unknown {
    if (!(error instanceof DbError)) return error;
    const { position, hint } = error.details ?? {};
    const start = this.document.placeOf(path);
    if (position === undefined) return invalidRecipe(error.message, pathText(path), start, hint);
    const at = Math.min(positionOf(position), text.length + 1);
    const place = start === null ? null : placeWithin(start, text, at);
    const message = place === null ? error.message : error.message.replace(/ \(line \d+, column \d+\)/, "");
    const found = invalidRecipe(message, pathText(path), place, hint);
    return new DbError(found.code, found.message, { ...found.details, position: at });
  }

  private checkTests(): void {
    const { workflow, tests, parameters } = this.recipe;
    const steps = new Set(workflow.map(({ name }) => name));
    tests.forEach((test, i) => {
      const path = ["tests", i];
      if (test.expect === undefined && test.error === undefined)
        this.fail("expects nothing: give expect or error", path);
      if (test.expect !== undefined && test.error !== undefined) this.fail("has both expect and error", path);
      test.expect?.forEach(({ step }, e) => {
        if (!steps.has(step)) this.fail(`no step is called ${step}`, [...path, "expect", e, "step"]);
      });
      const values = bindParameters(parameters, test.parameters ?? {});
      // A test may show that a value is refused.
      if ("fault" in values && test.error !== "invalid_request") {
        this.fail(`${values.name} ${values.fault}`, [...path, "parameters", values.name]);
      }
    });
  }
}

const languageOf = ({ sql }: Statement): "sql" | "cypher" => (sql === undefined ? "cypher" : "sql");

/** Names of the functions that a statement calls, wherever in it. */
function callsIn(node: unknown, names = new Set<string>()): ReadonlySet<string> {
  if (typeof node !== "object" || node === null) return names;
  const { kind, path } = node as { readonly kind?: unknown; readonly path?: readonly string[] };
  if (kind === "call" && Array.isArray(path)) names.add(path.at(-1) as string);
  for (const part of Object.values(node)) callsIn(part, names);
  return names;
}
