/**
 * Procedures about databases and users, with the columns that tools of Neo4j read. A database is a graph of the tenant.
 * `SHOW DATABASES` and `SHOW CURRENT USER` call them.
 */
import { DEFAULT_GRAPH } from "../../catalog/graph.js";
import { LIST_OF } from "../../query/expr/cypher/registry.js";
import type { Expr, ScalarFunction } from "../../query/expr/expr.js";
import type { Plan } from "../../query/plan/plan.js";
import { VARIANT } from "../../values/values.js";
import type { Procedure, ProcedureStatement } from "./procedure.js";
import type { ProcedureField } from "./procedure-catalog.js";
import { BOOLEAN, listOf, STRING } from "./static-type.js";
import { call, textConst, variant } from "./variables.js";

const text = (name: string): ProcedureField => ({ name, type: STRING });
const texts = (name: string): ProcedureField => ({ name, type: listOf(STRING) });
const truth = (name: string): ProcedureField => ({ name, type: BOOLEAN });

const DATABASE_FIELDS = [
  text("name"),
  text("type"),
  texts("aliases"),
  text("access"),
  text("address"),
  text("role"),
  truth("writer"),
  text("requestedStatus"),
  text("currentStatus"),
  text("statusMessage"),
  truth("default"),
  truth("home"),
  texts("constituents"),
];

const NONE = call(LIST_OF, []);
/** Of the default graph. */
const ALIAS = "neo4j";

/** Which clients reach the graph by other names: src/features/bolt/database-names.ts. */
function databaseRow(graph: string): readonly Expr[] {
  const isDefault = graph === DEFAULT_GRAPH;
  return [
    textConst(graph),
    textConst("standard"),
    isDefault ? call(LIST_OF, [textConst(ALIAS)]) : NONE,
    textConst("read-write"),
    // Clients stay with the address that they have.
    textConst(""),
    textConst("primary"),
    variant(true),
    textConst("online"),
    textConst("online"),
    textConst(""),
    variant(isDefault),
    variant(isDefault),
    NONE,
  ];
}

function tableOf(
  fields: readonly ProcedureField[],
  rows: readonly (readonly Expr[])[],
  statement: ProcedureStatement,
): Plan {
  return Object.freeze({ kind: "values", rows, columns: fields.map(({ name }) => statement.newColumn(name, VARIANT)) });
}

const USER_FIELDS = [text("user"), texts("roles"), truth("passwordChangeRequired"), truth("suspended"), text("home")];

/** Asked when the statement runs: users of a tenant share its plans. */
const CALLING_USER: ScalarFunction = Object.freeze({
  name: "calling_user",
  args: [],
  returns: VARIANT,
  volatility: "stable",
  strict: true,
  needsContext: true,
  apply: ({ user }: { readonly user: string }) => user,
});

/** Under the name of SHOW CURRENT USER, and the one that older tools of Neo4j call. */
const currentUser = (name: string, fields: readonly ProcedureField[]): Procedure => ({
  name,
  description: "The user who asks.",
  inputs: [],
  outputs: fields,
  rows: (_args, statement) => {
    const cells: Readonly<Record<string, Expr>> = {
      ...{ user: call(CALLING_USER, []), username: call(CALLING_USER, []), roles: NONE, flags: NONE },
      ...{ passwordChangeRequired: variant(false), suspended: variant(false), home: textConst(DEFAULT_GRAPH) },
    };
    return tableOf(fields, [fields.map((field) => cells[field.name]!)], statement);
  },
});

export const DATABASE_PROCEDURES: readonly Procedure[] = [
  {
    name: "dbms.databases",
    description: "The graphs of the tenant, each a database; or the one of a name.",
    inputs: [{ ...text("name"), optional: true }],
    outputs: DATABASE_FIELDS,
    rows: ([name], statement) => {
      const wanted = name === undefined ? null : statement.valueAtOnce(name);
      const graph = wanted === ALIAS ? DEFAULT_GRAPH : wanted;
      const names = statement.graphNames().filter((each) => graph === null || each === graph);
      return tableOf(DATABASE_FIELDS, names.map(databaseRow), statement);
    },
  },
  {
    name: "dbms.defaultDatabase",
    description: "The graph that statements mean which name none.",
    inputs: [],
    outputs: DATABASE_FIELDS,
    rows: (_args, statement) => tableOf(DATABASE_FIELDS, [databaseRow(DEFAULT_GRAPH)], statement),
  },
  currentUser("dbms.currentUser", USER_FIELDS),
  currentUser("dbms.showCurrentUser", [text("username"), texts("roles"), texts("flags")]),
];
