/** Tools that tell what tables there are and how SQL is written here. */
import Type from "typebox";
import { Strict } from "../../protocol/endpoints/schemas.js";
import { lookUpManual } from "../../sql/manual/manual.js";
import { schemaHandlers } from "../statements/schema-routes.js";
import { READS, resultOf, type Tool } from "./tool.js";

const NOTHING = { params: {}, query: {}, body: undefined };

export const listTables: Tool = {
  name: "list_tables",
  title: "List tables",
  description:
    "Lists the tables, views and collections of the current database with their kinds, columns counts and row counts.",
  input: Strict({}),
  ...READS,
  call: async ({ request }) => resultOf(await schemaHandlers["schema.tables"](request, NOTHING), "tables"),
};

export const describeTable: Tool = {
  name: "describe_table",
  title: "Describe a table",
  description: "Columns with their types, indexes and constraints of one table.",
  input: Strict({ table: Type.String({ minLength: 1, description: "A table, or schema.table." }) }),
  ...READS,
  call: ({ request }, { table }) =>
    resultOf(schemaHandlers["schema.table"](request, { ...NOTHING, params: { table } }), "table"),
};

export const sqlManual: Tool = {
  name: "sql_manual",
  title: "SQL manual",
  description:
    "Looks up a statement, function, operator, type or topic of the SQL that this database understands: syntax, what it does, an example. Without a topic: the contents.",
  input: Strict({
    topic: Type.Optional(
      Type.String({ description: 'Such as "insert", "window functions", "date_trunc" or "jsonb".' }),
    ),
  }),
  ...READS,
  call: (_, { topic = "" }) => JSON.stringify({ topic, pages: lookUpManual(topic) }),
};
