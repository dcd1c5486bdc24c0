/** Limits of test/tidy.test.ts, and what may break them, each with its reason. */

/** Of src/actor. */
export const ACTOR_FILES = 35;
/** Of a comment. biome.json has the width of code. */
export const COLUMNS = 120;
export const FILE_LINES = 500;
export const FUNCTION_LINES = 70;
/** Of components of the console: their markup takes a line for each attribute. */
export const COMPONENT_LINES = 125;
/** Of a page of docs/architecture. */
export const PAGE_WORDS = 1500;
export const DOCUMENT_LINES = { "README.md": 120, "ARCHITECTURE.md": 100 };

/** Sentences that say in a private dialect what has a plain form. */
export const PHRASES: readonly string[] = [
  "that is none exactly",
  "takes its rows along",
  "What was not done with",
  "whatever stands around them",
  "What nothing attests",
  "What a request is made of",
  "Those of before the start",
  "Throws what the statement ends in",
];

type Rule = "columns" | "files" | "functions" | "names" | "paths" | "phrases";

const STEPS = "steps of one task, in order";
const CASES = "a case for each kind of one union";
const LOOP = "the inner loop of the import, whose state stays in local variables";

/** By a file's name without its folder, so that files may move. */
export const EXCEPTIONS: Readonly<Record<Rule, Readonly<Record<string, string>>>> = {
  columns: { "api-types.ts": "generated", "etcd_pb.ts": "generated" },
  files: {
    "api-types.ts": "generated",
    "ast-query.ts": "types of the syntax tree only",
    "etcd_pb.ts": "generated",
    "explain.ts": "a case for each kind of plan node",
    "json-path-parse.ts": "one grammar",
    "pattern-planner.ts": "one search over one state",
    "plpgsql-parser.ts": "one grammar",
    "walk.ts": "a case for each kind of plan node",
  },
  functions: {
    "actor.ts start": STEPS,
    "bind-column-def.ts draftOfType": CASES,
    "bind-constraint.ts bindForeignKey": STEPS,
    "bind-ddl.ts bindCreateTable": STEPS,
    "command-line.ts runCommandLine": STEPS,
    "compare.ts comparatorOf": CASES,
    "compile-plan.ts compileOperator": CASES,
    "copy-table.ts copyTable": STEPS,
    "csv-reader.ts next": LOOP,
    "ddl.ts createTable": STEPS,
    "explain.ts describe": CASES,
    "from-pg-ddl.ts smallDefinition": CASES,
    "gateway.ts assemble": STEPS,
    "gateway.ts startGateway": STEPS,
    "json-format.ts jsonWriter": CASES,
    "key-codec.ts writeValue": CASES,
    "prune-columns.ts prune": CASES,
    "record-reader.ts payloadReader": CASES,
    "record-writer.ts writeValue": CASES,
    "run-agent.ts runAgent": STEPS,
    "serve.ts serve": STEPS,
    "text-format.ts fromText": CASES,
    "train-rows.ts trainRows": STEPS,
    "walk.ts plan": CASES,
  },
  names: {
    "bind aggregateIn": "one finds the node, the other asks whether there is one",
    "catalog dependentsOf": "of a relation, and of a sequence",
    "parse stringValue": "of a literal of PL/pgSQL, and of a token",
    "values offsetToText": "PostgreSQL and openCypher write offsets differently",
    "storage writeByte": "into a key, and into a record: a buffer for each",
    "wasm inputAt": "what each WebAssembly module exports",
  },
  paths: {
    "tck-adapter.ts tck/values.mjs": "of the openCypher TCK, which lies beside the checkout",
    "agents-and-mcp.md tessera-mcp-bridge.mjs": "the reader downloads it",
    "drivers.md hello.mjs": "the reader writes it",
    "typescript.md hello.mjs": "the reader writes it",
    "files.md ferry.md": "the example writes it",
    "files.md guide.md": "a name for the example",
  },
  phrases: {},
};
