/** `tessera types`: TypeScript types of a tenant's tables, as a running server has them. Exit codes: api-client.ts. */
import { writeFileSync } from "node:fs";
import type { Command } from "commander";
import { addClientCommand, type ClientOptions, connect, type Told } from "./client-command.js";

interface Options extends ClientOptions {
  readonly output?: string;
}

export interface TypedColumn {
  readonly table_schema: string;
  readonly table_name: string;
  readonly column_name: string;
  readonly data_type: string;
  readonly udt_name: string;
  readonly is_nullable: "YES" | "NO";
  readonly column_default: string | null;
  readonly is_identity: "YES" | "NO";
  readonly is_generated: "ALWAYS" | "NEVER";
  /** Of an enumeration: its labels. */
  readonly labels: readonly string[] | null;
  readonly is_updatable: boolean;
}

export function addTypesCommand(program: Command): void {
  addClientCommand<Options>(program, "types", "write TypeScript types of the tenant's tables and views", types)
    .option("-o, --output <file>", "the file, which is replaced (default: standard output)")
    .addHelpText("after", "\nExample:\n  tessera types -o src/database.ts");
}

const COLUMNS = `
  SELECT c.table_schema, c.table_name, c.column_name, c.data_type, c.udt_name, c.is_nullable, c.column_default, c.is_identity, c.is_generated,
    (SELECT array_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_enum e JOIN pg_type t ON t.oid = e.enumtypid WHERE t.typname = c.udt_name) AS labels,
    t.table_type = 'BASE TABLE' AS is_updatable
  FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
  WHERE c.table_schema NOT IN ('pg_catalog', 'information_schema') AND c.table_schema NOT LIKE 'graph:%' AND c.table_name NOT LIKE '\\_%'
  ORDER BY c.table_schema, c.table_name, c.ordinal_position`;

async function types(options: Options): Promise<Told> {
  const client = await connect(options);
  const columns: TypedColumn[] = [];
  const { columns: names, rows } = await client.call("POST", "/v1/query/execute", { sql: COLUMNS, max_rows: 10_000 });
  for (const row of rows as unknown[][]) {
    const entries = (names as { name: string }[]).map(({ name }, c) => [name, row[c]]);
    columns.push(Object.fromEntries(entries));
  }
  const text = typesOf(columns);
  if (options.output === undefined) return { data: { types: text }, lines: [text.trimEnd()] };
  writeFileSync(options.output, text);
  return { data: { file: options.output }, lines: [`written to ${options.output}`] };
}

/** For each table what a row is when it is read, inserted and changed; columns of a table stand beside each other. */
export function typesOf(columns: readonly TypedColumn[]): string {
  const tables = new Map<string, TypedColumn[]>();
  for (const column of columns) {
    const { table_schema: schema, table_name: table } = column;
    const name = schema === "public" ? table : `${schema}.${table}`;
    const known = tables.get(name);
    if (known === undefined) tables.set(name, [column]);
    else known.push(column);
  }
  const lines = [
    "// Made by `tessera types`. Do not edit: run it again.",
    "",
    "export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };",
    "",
    "export interface Tables {",
  ];
  for (const [name, of] of tables) lines.push(...tableLines(name, of));
  lines.push(
    "}",
    "",
    'export type Row<T extends keyof Tables> = Tables[T]["row"];',
    'export type Insert<T extends keyof Tables> = Tables[T]["insert"];',
    'export type Update<T extends keyof Tables> = Tables[T]["update"];',
    "",
  );
  return lines.join("\n");
}

function tableLines(name: string, columns: readonly TypedColumn[]): string[] {
  const part = (title: string, line: (column: TypedColumn) => string | null): string[] => {
    const members = columns.map(line).filter((member) => member !== null);
    return members.length === 0
      ? [`    ${title}: Record<string, never>;`]
      : [`    ${title}: {`, ...members.map((member) => `      ${member}`), "    };"];
  };
  const type = (column: TypedColumn): string =>
    column.is_nullable === "YES" ? `${typeOf(column)} | null` : typeOf(column);
  const isGiven = ({ is_generated: generated }: TypedColumn): boolean => generated === "NEVER";
  const mayBeLeftOut = (column: TypedColumn): boolean =>
    column.is_nullable === "YES" || column.column_default !== null || column.is_identity === "YES";
  const isTable = columns[0]!.is_updatable;
  return [
    `  ${key(name)}: {`,
    ...part("row", (column) => `${key(column.column_name)}: ${type(column)};`),
    ...part("insert", (column) =>
      isTable && isGiven(column)
        ? `${key(column.column_name)}${mayBeLeftOut(column) ? "?" : ""}: ${type(column)};`
        : null,
    ),
    ...part("update", (column) =>
      isTable && isGiven(column) ? `${key(column.column_name)}?: ${type(column)};` : null,
    ),
    "  };",
  ];
}

const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

/** By the names of pg_type. Numbers that JavaScript cannot hold come as text, as the server's JSON has them. */
const TYPES: Readonly<Record<string, string>> = {
  bool: "boolean",
  int2: "number",
  int4: "number",
  int8: "number | string",
  oid: "number",
  float4: "number",
  float8: "number",
  numeric: "string",
  json: "Json",
  jsonb: "Json",
  vector: "number[]",
};

function typeOf({ data_type: type, udt_name: name, labels }: TypedColumn): string {
  if (labels !== null) return labels.map((label) => JSON.stringify(label)).join(" | ");
  if (type === "ARRAY") return arrayOf(TYPES[name.replace(/^_/, "")] ?? "string");
  return TYPES[name] ?? "string";
}

const arrayOf = (type: string): string => `(${type} | null)[]`;
