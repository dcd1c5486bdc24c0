/** Tools that tell what tables there are and how SQL is written here. */
import Type from "typebox";
import { Strict } from "../../protocol/endpoints/schemas.js";
import { lookUpManual } from "../../sql/manual/manual.js";
import { tableFacts, listTables as tablesOf } from "../statements/table-facts.js";
import { READS, type Tool } from "./tool.js";

const listTables: Tool = {
  name: "list_tables",
  door: "statements",
  title: "List tables",
  description:
    "Lists the tables, views and collections of the current database that you may use, with their kinds, column counts and row counts.",
  input: Strict({}),
  ...READS,
  call: async ({ request }) => JSON.stringify({ tables: await tablesOf(request) }),
};

const describeTable: Tool = {
  name: "describe_table",
  door: "statements",
  title: "Describe a table",
  description: "Describes one table: columns with their types, indexes and constraints.",
  input: Strict({ table: Type.String({ minLength: 1, description: "A table, or schema.table." }) }),
  ...READS,
  call: ({ request }, { table }) => JSON.stringify(tableFacts(request, table)),
};

const sqlManual: Tool = {
  name: "sql_manual",
  door: "none",
  title: "SQL manual",
  description:
    "Looks up a statement, function, operator, type or topic of this database's SQL: syntax, purpose and an example. Without a topic, it returns the table of contents.",
  input: Strict({
    topic: Type.Optional(
      Type.String({ description: 'Such as "insert", "window functions", "date_trunc" or "jsonb".' }),
    ),
  }),
  ...READS,
  call: (_, { topic = "" }) => JSON.stringify({ topic, pages: lookUpManual(topic) }),
};

export const SCHEMA_TOOLS: readonly Tool[] = [listTables, describeTable, sqlManual];
