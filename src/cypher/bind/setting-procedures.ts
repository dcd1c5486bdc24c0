/**
 * The settings that clients of Neo4j ask for, by the names that they know. `SHOW SETTINGS` calls dbms.settings. What a
 * server is set to itself is in its configuration, which administrators read by its own routes.
 */
import { DEFAULT_GRAPH } from "../../catalog/graph.js";
import { cypherOperator } from "../../query/expr/cypher/registry.js";
import type { Expr } from "../../query/expr/expr.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import { VARIANT } from "../../values/values.js";
import type { Procedure } from "./procedure.js";
import type { ProcedureField } from "./procedure-catalog.js";
import { filtered } from "./rows.js";
import { BOOLEAN, listOf, STRING } from "./static-type.js";
import { call, textConst, variant } from "./variables.js";

interface Setting {
  readonly name: string;
  readonly value: string;
  readonly description: string;
}

/** Those of clients are how Neo4j Browser is to behave. */
const CLIENT_SETTINGS: readonly Setting[] = [
  {
    name: "browser.allow_outgoing_connections",
    value: "false",
    description: "Whether Neo4j Browser may load from other servers.",
  },
  { name: "browser.post_connect_cmd", value: "", description: "What Neo4j Browser runs when it has connected." },
  {
    name: "browser.remote_content_hostname_allowlist",
    value: "",
    description: "Servers that Neo4j Browser may load guides from.",
  },
  {
    name: "browser.retain_connection_credentials",
    value: "true",
    description: "Whether Neo4j Browser may keep the password.",
  },
  { name: "client.allow_telemetry", value: "false", description: "Whether clients may tell others about their use." },
  { name: "dbms.security.auth_enabled", value: "true", description: "Whether clients have to sign in." },
  {
    name: "initial.dbms.default_database",
    value: DEFAULT_GRAPH,
    description: "The database that statements mean which name none.",
  },
];

const text = (name: string): ProcedureField => ({ name, type: STRING });
const truth = (name: string): ProcedureField => ({ name, type: BOOLEAN });
const onDemand = (field: ProcedureField): ProcedureField => ({ ...field, onDemand: true });

/** What a column says of a setting, none of which can be changed. */
const CELLS: Readonly<Record<string, (setting: Setting) => Expr>> = {
  name: ({ name }) => textConst(name),
  value: ({ value }) => textConst(value),
  description: ({ description }) => textConst(description),
  defaultValue: ({ value }) => textConst(value),
  startupValue: ({ value }) => textConst(value),
  validValues: () => textConst(""),
  dynamic: () => variant(false),
  isDynamic: () => variant(false),
  explicitlySet: () => variant(false),
  isExplicitlySet: () => variant(false),
  isDeprecated: () => variant(false),
};

const CONFIG_FIELDS = [
  ...[text("name"), text("description"), text("value"), truth("dynamic"), text("defaultValue")],
  ...[text("startupValue"), truth("explicitlySet"), text("validValues")],
];

const SHOWN_FIELDS = [
  ...[text("name"), text("value"), truth("isDynamic"), text("defaultValue"), text("description")],
  ...[text("startupValue"), truth("isExplicitlySet"), text("validValues"), truth("isDeprecated")].map(onDemand),
];

/** `condition`: of the name and the argument, which may be left out. */
function listing(
  { outputs, inputs, ...named }: Omit<Procedure, "rows">,
  condition: (name: Expr, argument: Expr) => Expr,
): Procedure {
  return {
    ...named,
    inputs,
    outputs,
    rows: ([argument], statement) => {
      const columns = outputs.map(({ name }) => statement.newColumn(name, VARIANT));
      const rows = CLIENT_SETTINGS.map((setting) => outputs.map(({ name }) => CELLS[name]!(setting)));
      const plan = Object.freeze({ kind: "values", rows, columns } as const);
      return argument === undefined ? plan : filtered(plan, condition(columnExpr(columns[0]!), argument));
    },
  };
}

const isIn = (name: Expr, names: Expr): Expr => call(cypherOperator("IN"), [name, names]);
const contains = (name: Expr, part: Expr): Expr => call(cypherOperator("CONTAINS"), [name, part]);

export const SETTING_PROCEDURES: readonly Procedure[] = [
  listing(
    {
      name: "dbms.settings",
      description: "The settings that clients ask for: all, or those of these names.",
      inputs: [{ name: "names", type: listOf(STRING), optional: true }],
      outputs: SHOWN_FIELDS,
    },
    isIn,
  ),
  listing(
    {
      name: "dbms.listConfig",
      description: "The settings that clients ask for: all, or those whose names contain a text.",
      inputs: [{ ...text("searchString"), optional: true }],
      outputs: CONFIG_FIELDS,
    },
    contains,
  ),
  listing(
    {
      name: "dbms.clientConfig",
      description: "The settings that clients ask for.",
      inputs: [],
      outputs: CONFIG_FIELDS,
    },
    contains,
  ),
];
