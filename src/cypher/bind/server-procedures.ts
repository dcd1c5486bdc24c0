/**
 * Procedures about the server and about procedures themselves, with the columns of Neo4j that there is something for.
 */
import { cypherFunctionList, LIST_OF } from "../../query/expr/cypher/registry.js";
import type { Expr } from "../../query/expr/expr.js";
import type { Plan } from "../../query/plan/plan.js";
import { VARIANT } from "../../values/values.js";
import { WRITING_PROCEDURES } from "../parse/writing-procedures.js";
import { describedFunction } from "./function-descriptions.js";
import type { Procedure, ProcedureStatement } from "./procedure.js";
import { type ProcedureField, signatureText } from "./procedure-catalog.js";
import { NO_ROWS } from "./rows.js";
import { BOOLEAN, INTEGER, listOf, STRING } from "./static-type.js";
import { call, textConst, variant } from "./variables.js";

const text = (name: string): ProcedureField => ({ name, type: STRING });

function rowsOf(
  fields: readonly ProcedureField[],
  rows: readonly (readonly Expr[])[],
  statement: ProcedureStatement,
): Plan {
  return Object.freeze({ kind: "values", rows, columns: fields.map(({ name }) => statement.newColumn(name, VARIANT)) });
}

/**
 * Clients compare it with versions of Neo4j to learn what they may send. Bolt tells the same (src/bolt/connection.ts).
 */
const NEO4J_VERSION = "5.26.0";

const COMPONENTS = [text("name"), { name: "versions", type: listOf(STRING) }, text("edition")];
const INFO = [text("id"), text("name")];
const PROCEDURE_FIELDS = [text("name"), text("signature"), text("description"), text("mode")];
const FUNCTION_FIELDS = [
  ...[text("name"), text("category"), text("description"), text("signature")],
  { name: "aggregating", type: BOOLEAN },
  { name: "isBuiltIn", type: BOOLEAN, onDemand: true },
];

/** As Neo4j calls the database that stands for the server. */
const SYSTEM = "system";

/** What Neo4j's administrators ask for, and happens by itself here. */
const IDLE: readonly Procedure[] = [
  {
    name: "db.resampleIndex",
    description: "Does nothing, because estimates follow what an index holds.",
    inputs: [{ ...text("indexName"), optional: false }],
  },
  {
    name: "db.resampleOutdatedIndexes",
    description: "Does nothing, because estimates follow what indexes hold.",
    inputs: [],
  },
  {
    name: "db.prepareForReplanning",
    description: "Does nothing, because statements are planned anew where what they read has changed much.",
    inputs: [{ name: "timeOutSeconds", type: INTEGER, optional: true }],
  },
].map((procedure) => ({ ...procedure, outputs: [], rows: () => NO_ROWS }));

const SERVER_INFO: Procedure = {
  name: "dbms.info",
  description: "The name of the server's database.",
  inputs: [],
  outputs: INFO,
  rows: (_args, statement) => rowsOf(INFO, [[textConst(SYSTEM), textConst(SYSTEM)]], statement),
};

/** `all`: asked when a statement is bound, because features register theirs. */
export function serverProcedures(all: () => readonly Procedure[]): readonly Procedure[] {
  return [
    {
      name: "db.ping",
      description: "Says that the database answers.",
      inputs: [],
      outputs: [{ name: "success", type: BOOLEAN }],
      rows: (_args, statement) => rowsOf([{ name: "success", type: BOOLEAN }], [[variant(true)]], statement),
    },
    {
      name: "db.info",
      description: "The name of the graph.",
      inputs: [],
      outputs: INFO,
      rows: (_args, statement) => {
        const { name } = statement.graph;
        return rowsOf(INFO, [[textConst(name), textConst(name)]], statement);
      },
    },
    ...IDLE,
    SERVER_INFO,
    {
      name: "dbms.components",
      description: "The version of Neo4j whose clients may connect.",
      inputs: [],
      outputs: COMPONENTS,
      rows: (_args, statement) => {
        const row = [textConst("Neo4j Kernel"), call(LIST_OF, [textConst(NEO4J_VERSION)]), textConst("community")];
        return rowsOf(COMPONENTS, [row], statement);
      },
    },
    {
      name: "dbms.procedures",
      description: "All procedures.",
      inputs: [],
      outputs: PROCEDURE_FIELDS,
      rows: (_args, statement) => {
        const rows = [
          ...all().map((procedure) => [procedure.name, signatureText(procedure), procedure.description, "READ"]),
          ...WRITING_PROCEDURES.map(({ name, signature, description }) => [name, signature, description, "WRITE"]),
        ];
        return rowsOf(
          PROCEDURE_FIELDS,
          rows.sort(([a], [b]) => (a! < b! ? -1 : 1)).map((row) => row.map(textConst)),
          statement,
        );
      },
    },
    {
      name: "dbms.functions",
      description: "All functions and aggregates of Cypher.",
      inputs: [],
      outputs: FUNCTION_FIELDS,
      rows: (_args, statement) => {
        const rows = cypherFunctionList().map(({ name, aggregating, counts }) => [
          textConst(name),
          textConst(describedFunction(name).category),
          textConst(describedFunction(name).description),
          textConst(counts.map((count) => `${name}(${argumentNames(count)})`).join(", ")),
          variant(aggregating),
          variant(!name.startsWith("apoc.")),
        ]);
        return rowsOf(FUNCTION_FIELDS, rows, statement);
      },
    },
  ];
}

const argumentNames = (count: number): string =>
  Array.from({ length: count }, (_, i) => String.fromCharCode(97 + i)).join(", ");
