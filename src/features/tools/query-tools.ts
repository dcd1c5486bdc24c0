/** Tools that run statements, or only look whether they would run. */
import Type from "typebox";
import { tokenize } from "../../cypher/parse/lexer.js";
import { syntaxError } from "../../cypher/parse/syntax-error.js";
import { Parameters, Strict } from "../../protocol/endpoints/schemas.js";
import { DbError } from "../../protocol/errors.js";
import { displayName } from "../../query/expr/types.js";
import { planOnly } from "../statements/plan-only.js";
import { dryRunArgument, runStatement } from "./run-statement.js";
import { READS, type Tool } from "./tool.js";

const WRITES = {
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  forReaders: false,
} as const satisfies Partial<Tool>;

const sql = Type.String({ minLength: 1, description: "One statement. Send values as `parameters` for $1, $2, …" });
const parameters = Type.Optional(Parameters);
const maxRows = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 10_000_000, description: "The most rows to return. Default: 1000." }),
);
const graph = Type.Optional(Type.String({ description: 'A graph of the tenant. Default: "default".' }));

const query: Tool = {
  name: "query",
  door: "statements",
  title: "Query",
  description:
    "Runs one SELECT (or another statement that only reads) and returns its columns with types and its rows. Statements that write are rejected; use execute for them.",
  input: Strict({ sql, parameters, max_rows: maxRows }),
  ...READS,
  call: (context, { sql: text, parameters: params = [], max_rows: cap }) =>
    runStatement({ ...context, readOnly: true }, { sql: text, params, maxRows: cap }),
};

const execute: Tool = {
  name: "execute",
  door: "statements",
  title: "Execute",
  description:
    "Runs one statement that may change data or definitions: INSERT, UPDATE, DELETE, MERGE, CREATE, ALTER, DROP, or Cypher.",
  input: Strict({ sql, parameters, max_rows: maxRows, dry_run: dryRunArgument }),
  ...WRITES,
  call: (context, { sql: text, parameters: params = [], max_rows: cap, dry_run: dryRun }) =>
    runStatement(context, { sql: text, params, maxRows: cap, dryRun }),
};

const validateQuery: Tool = {
  name: "validate_query",
  door: "statements",
  title: "Validate a query",
  description:
    "Parses and plans a statement without running it: whether it is valid, the types of its parameters and columns, or what is wrong and where.",
  input: Strict({ sql }),
  ...READS,
  call: ({ request }, { sql: text }) => {
    try {
      const plan = planOnly(request, text);
      return JSON.stringify({
        valid: true,
        kind: plan.bound.kind,
        parameter_types: plan.parameterTypes.map((type) => displayName(type)),
        columns: plan.shape?.columns ?? [],
      });
    } catch (error) {
      if (!(error instanceof DbError) || error.status >= 500) throw error;
      const { code, message, details } = error;
      return JSON.stringify({ valid: false, error: { code, message, ...(details !== undefined && { details }) } });
    }
  },
};

const cypherInput = Strict({
  cypher: Type.String({ minLength: 1, description: "One openCypher statement, with values in the text or as $name." }),
  parameters: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: "A value per $name." })),
  graph,
  max_rows: maxRows,
  dry_run: dryRunArgument,
});

/** `cypher` and `graph_query` are one tool under the two names that clients know; `call` may wrap what both do. */
function cypherTool(name: string, wrap: (call: Tool["call"]) => Tool["call"] = (call) => call): Tool {
  return {
    name,
    door: "statements",
    title: "Query the graph",
    description: "Runs one openCypher statement against the tenant's property graph and returns columns and rows.",
    input: cypherInput,
    ...WRITES,
    forReaders: true,
    call: wrap((context, { cypher: text, parameters: params = [], graph: of, max_rows: cap, dry_run: dryRun }) =>
      runStatement(context, {
        sql: text,
        params,
        language: "cypher",
        ...(of !== undefined && { graph: of }),
        maxRows: cap,
        dryRun,
      }),
    ),
  };
}

/**
 * Clients of `graph_query` know a `$name` without any parameters as an error of the parser, which says where it stands.
 */
function tellingWhere(call: Tool["call"]): Tool["call"] {
  return async (context, args) => {
    try {
      return await call(context, args);
    } catch (error) {
      const isUnbound = error instanceof DbError && error.details?.detail === "MissingParameter";
      throw (isUnbound && args.parameters === undefined ? unboundAt(args.cypher) : null) ?? error;
    }
  };
}

/** Null where the statement needs a parameter that it does not write, as CALL without parentheses does. */
function unboundAt(text: string): DbError | null {
  const { kinds, starts, ends } = tokenize(text);
  const token = kinds.indexOf("parameter");
  if (token < 0) return null;
  const name = text.slice(starts[token], ends[token]);
  const remedy = `: ${name} has no value; send it in the argument "parameters", by its name without the $`;
  return syntaxError(text, starts[token]!, "MissingParameter", "expected expression", remedy);
}

const graphQuery = cypherTool("graph_query", tellingWhere);
const cypher = cypherTool("cypher");

export const QUERY_TOOLS: readonly Tool[] = [query, execute, validateQuery, graphQuery, cypher];
