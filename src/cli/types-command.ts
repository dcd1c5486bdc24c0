/** `tessera types`: TypeScript types of what a tenant has, as a running server tells it. Exit codes: api-client.ts. */
import { writeFileSync } from "node:fs";
import type { Command } from "commander";
import type { ApiClient } from "./api-client.js";
import { addClientCommand, type ClientOptions, connect, type Told } from "./client-command.js";
import { type GraphSchema, type KnownType, type TypedColumn, type TypedRoutine, typesOf } from "./schema-types.js";

interface Options extends ClientOptions {
  readonly output?: string;
}

export function addTypesCommand(program: Command): void {
  const what = "write TypeScript types of the tenant's tables, collections, functions and graphs";
  addClientCommand<Options>(program, "types", what, types)
    .option("-o, --output <file>", "the file, which is replaced (default: standard output)")
    .addHelpText("after", "\nExamples:\n  tessera types -o src/database.ts\n  tessera types --json");
}

/** What the server itself has is left out. */
const OWN = "NOT IN ('pg_catalog', 'information_schema')";

const COLUMNS = `
  SELECT c.table_schema, c.table_name, c.column_name, c.data_type, c.udt_name, c.is_nullable, c.column_default, c.is_identity, c.is_generated,
    t.table_type = 'BASE TABLE' AS is_updatable
  FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
  WHERE c.table_schema ${OWN} AND c.table_schema NOT LIKE 'graph:%' AND c.table_name NOT LIKE '\\_%'
  ORDER BY c.table_schema, c.table_name, c.ordinal_position`;

const TYPES = `
  SELECT t.oid, t.typname AS name, t.typelem AS element,
    (SELECT array_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = t.oid) AS labels,
    CASE WHEN t.typtype = 'c' THEN n.nspname END AS relation_schema
  FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace`;

const ROUTINES = `
  SELECT n.nspname AS schema, p.proname AS name, p.prokind AS kind, p.prorettype AS result, p.provariadic AS variadic,
    p.pronargdefaults AS defaults, coalesce(p.proallargtypes, p.proargtypes) AS types, p.proargmodes AS modes, p.proargnames AS names
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
  WHERE n.nspname ${OWN} AND p.prokind IN ('f', 'p')
  ORDER BY n.nspname, p.proname, p.oid`;

async function types(options: Options): Promise<Told> {
  const client = await connect(options);
  const [columns, known, routines] = [
    await rowsOf<TypedColumn>(client, { sql: COLUMNS }),
    await rowsOf<KnownType>(client, { sql: TYPES }),
    await rowsOf<TypedRoutine>(client, { sql: ROUTINES }),
  ];
  const text = typesOf(columns, known, routines, await graphsOf(client));
  if (options.output === undefined) return { data: { types: text }, lines: [text.trimEnd()] };
  writeFileSync(options.output, text);
  return { data: { file: options.output }, lines: [`written to ${options.output}`] };
}

async function graphsOf(client: ApiClient): Promise<GraphSchema[]> {
  const { graphs } = (await client.call("GET", "/v1/graph/graphs")) as { graphs: { name: string }[] };
  const found: GraphSchema[] = [];
  for (const { name: graph } of graphs) {
    found.push({
      name: graph,
      nodes: await rowsOf(client, { sql: "CALL db.schema.nodeTypeProperties()", language: "cypher", graph }),
      relationships: await rowsOf(client, { sql: "CALL db.schema.relTypeProperties()", language: "cypher", graph }),
    });
  }
  return found;
}

async function rowsOf<T>(client: ApiClient, statement: object): Promise<T[]> {
  const { columns, rows } = await client.call("POST", "/v1/query/execute", { ...statement, max_rows: 100_000 });
  const names = (columns as { name: string }[]).map(({ name }) => name);
  return (rows as unknown[][]).map((row) => Object.fromEntries(names.map((name, c) => [name, row[c]])) as T);
}
