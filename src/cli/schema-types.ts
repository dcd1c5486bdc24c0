/**
 * TypeScript types of a tenant's tables, functions and graphs, from what its catalog says. Called by types-command.ts;
 * pure.
 */

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
  readonly is_updatable: boolean;
}

/** A type of pg_type. */
export interface KnownType {
  readonly oid: number;
  readonly name: string;
  /** Of an array: its elements' type; else 0. */
  readonly element: number;
  /** Of an enumeration. */
  readonly labels: readonly string[] | null;
  /** Of the rows of a table: the table's schema. */
  readonly relation_schema: string | null;
}

/** A function or procedure. */
export interface TypedRoutine {
  readonly schema: string;
  readonly name: string;
  readonly kind: "f" | "p";
  readonly result: number;
  /** The element's type of a last argument that takes any number of values; else 0. */
  readonly variadic: number;
  /** How many of the last arguments may be left out. */
  readonly defaults: number;
  /** Of all parameters, those for results among them where `modes` is there. */
  readonly types: readonly number[];
  readonly modes: readonly string[] | null;
  readonly names: readonly string[] | null;
}

/** A row of db.schema.nodeTypeProperties or relTypeProperties. */
export interface PropertyRow {
  readonly nodeLabels?: readonly string[];
  /** With backticks and a colon before them. */
  readonly relType?: string;
  readonly propertyName: string | null;
  readonly propertyTypes: readonly string[] | null;
  readonly mandatory: boolean;
}

export interface GraphSchema {
  readonly name: string;
  readonly nodes: readonly PropertyRow[];
  readonly relationships: readonly PropertyRow[];
}

export function typesOf(
  columns: readonly TypedColumn[],
  types: readonly KnownType[],
  routines: readonly TypedRoutine[],
  graphs: readonly GraphSchema[],
): string {
  const known = new KnownTypes(types);
  const functions = routines.filter(({ kind }) => kind === "f");
  const procedures = routines.filter(({ kind }) => kind === "p");
  return [
    "// Made by `tessera types`. Do not edit: run it again.",
    "",
    "export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };",
    "",
    "/** Rows of tables, views and collections: as they are read, inserted and changed. */",
    "export interface Tables {",
    ...tableLines(columns, known),
    "}",
    "",
    "/** What functions take, and a row of their results. */",
    "export interface Functions {",
    ...routineLines(functions, (routine) => ` row: ${known.resultOf(routine)};`, known),
    "}",
    "",
    "/** What procedures take. */",
    "export interface Procedures {",
    ...routineLines(procedures, () => "", known),
    "}",
    "",
    "/** Properties of nodes by label, and of relationships by type, as they occur now. */",
    "export interface Graphs {",
    ...graphs.flatMap(graphLines),
    "}",
    "",
    "/** For the client: `connect<Database>({ … })`. */",
    "export interface Database {",
    "  tables: Tables;",
    "  functions: Functions;",
    "  procedures: Procedures;",
    "  graphs: Graphs;",
    "}",
    "",
    'export type Row<T extends keyof Tables> = Tables[T]["row"];',
    'export type Insert<T extends keyof Tables> = Tables[T]["insert"];',
    'export type Update<T extends keyof Tables> = Tables[T]["update"];',
    "",
  ].join("\n");
}

/** As the client takes it: what stands before the first dot is the schema. */
const nameOf = (schema: string, name: string): string =>
  schema === "public" && !name.includes(".") ? name : `${schema}.${name}`;

const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

function grouped<T>(items: readonly T[], nameOfItem: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(nameOfItem(item));
    if (group === undefined) groups.set(nameOfItem(item), [item]);
    else group.push(item);
  }
  return groups;
}

function tableLines(columns: readonly TypedColumn[], known: KnownTypes): string[] {
  const tables = grouped(columns, ({ table_schema: schema, table_name: table }) => nameOf(schema, table));
  return [...tables].flatMap(([name, of]) => oneTable(name, of, known));
}

function oneTable(name: string, columns: readonly TypedColumn[], known: KnownTypes): string[] {
  const part = (title: string, line: (column: TypedColumn) => string | null): string[] => {
    const members = columns.map(line).filter((member) => member !== null);
    return members.length === 0
      ? [`    ${title}: Record<string, never>;`]
      : [`    ${title}: {`, ...members.map((member) => `      ${member}`), "    };"];
  };
  const type = (column: TypedColumn): string =>
    column.is_nullable === "YES" ? `${known.named(column.udt_name)} | null` : known.named(column.udt_name);
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

/** Functions of one name are alternatives. */
function routineLines(
  routines: readonly TypedRoutine[],
  more: (routine: TypedRoutine) => string,
  known: KnownTypes,
): string[] {
  const byName = grouped(routines, ({ schema, name }) => nameOf(schema, name));
  return [...byName].map(([name, of]) => {
    const forms = of.map((routine) => `{ arguments: [${argumentsOf(routine, known)}];${more(routine)} }`);
    return `  ${key(name)}: ${forms.join(" | ")};`;
  });
}

const TAKEN = ["i", "b", "v"];

function argumentsOf({ types, modes, names, defaults, variadic }: TypedRoutine, known: KnownTypes): string {
  const taken = types
    .map((oid, i) => ({ oid, name: names?.[i] ?? "" }))
    .filter((_, i) => TAKEN.includes(modes?.[i] ?? "i"));
  const isVariadic = variadic !== 0;
  const optionalFrom = taken.length - defaults;
  return taken
    .map(({ oid, name }, i) => {
      const label = /^[A-Za-z_$][\w$]*$/.test(name) && !RESERVED.has(name) ? name : `argument${i + 1}`;
      if (isVariadic && i === taken.length - 1) return `...${label}: (${known.ofOid(variadic)} | null)[]`;
      return `${label}${i >= optionalFrom ? "?" : ""}: ${known.ofOid(oid)} | null`;
    })
    .join(", ");
}

/** Words that no label of a tuple may be. */
const RESERVED = new Set(["function", "new", "this", "void", "null", "true", "false", "typeof", "in"]);

function graphLines({ name, nodes, relationships }: GraphSchema): string[] {
  const byLabel = new Map<string, PropertyRow[][]>();
  for (const rows of grouped(nodes, ({ nodeLabels = [] }) => JSON.stringify(nodeLabels)).values()) {
    for (const label of rows[0]!.nodeLabels ?? []) byLabel.set(label, [...(byLabel.get(label) ?? []), rows]);
  }
  const byType = grouped(relationships, ({ relType = "" }) => relType.replace(/^:`|`$/g, "").replaceAll("``", "`"));
  return [
    `  ${key(name)}: {`,
    "    nodes: {",
    ...[...byLabel].map(([label, sets]) => `      ${key(label)}: ${propertiesOf(sets)};`),
    "    };",
    "    relationships: {",
    ...[...byType].map(([type, rows]) => `      ${key(type)}: ${propertiesOf([rows])};`),
    "    };",
    "  };",
  ];
}

/** A property is always there if it is in all nodes of all sets of labels. */
function propertiesOf(sets: readonly (readonly PropertyRow[])[]): string {
  const found = grouped(
    sets.flat().filter(({ propertyName }) => propertyName !== null),
    ({ propertyName }) => propertyName!,
  );
  const members = [...found].map(([name, rows]) => {
    const types = new Set(rows.flatMap(({ propertyTypes }) => (propertyTypes ?? []).map(propertyType)));
    const isThere = rows.length === sets.length && rows.every(({ mandatory }) => mandatory);
    return `${key(name)}${isThere ? "" : "?"}: ${[...types].join(" | ")};`;
  });
  return members.length === 0 ? "Record<string, never>" : `{ ${members.join(" ")} }`;
}

/** Of the names that db.schema.nodeTypeProperties uses; dates and times are text. */
const PROPERTY_TYPES: Readonly<Record<string, string>> = {
  ...{ String: "string", Long: "number", Double: "number", Boolean: "boolean" },
  ...{ Date: "string", Time: "string", LocalTime: "string", DateTime: "string", LocalDateTime: "string" },
  ...{ Duration: "string", StringArray: "string[]", LongArray: "number[]", DoubleArray: "number[]" },
  ...{ BooleanArray: "boolean[]", Array: "Json[]" },
};

const propertyType = (name: string): string => PROPERTY_TYPES[name] ?? "Json";

/** By the names of pg_type. Whole numbers that JavaScript cannot hold come as text, as the server's JSON has them. */
const TYPES: Readonly<Record<string, string>> = {
  bool: "boolean",
  int2: "number",
  int4: "number",
  int8: "number | string",
  oid: "number",
  float4: "number",
  float8: "number",
  numeric: "number",
  json: "Json",
  jsonb: "Json",
  variant: "Json",
  record: "Json",
  vector: "number[]",
  halfvec: "number[]",
};

class KnownTypes {
  private readonly byOid = new Map<number, KnownType>();
  private readonly byName = new Map<string, KnownType>();

  constructor(types: readonly KnownType[]) {
    for (const type of types) {
      this.byOid.set(type.oid, type);
      this.byName.set(type.name, type);
    }
  }

  named(name: string): string {
    const type = this.byName.get(name);
    // An array's name has an underscore before its element's.
    if (type === undefined)
      return name.startsWith("_") ? arrayOf(this.named(name.slice(1))) : (TYPES[name] ?? "string");
    return this.textOf(type);
  }

  ofOid(oid: number): string {
    const type = this.byOid.get(oid);
    return type === undefined ? "unknown" : this.textOf(type);
  }

  /**
   * A row of what a function gives: of a table, of its parameters for results, or one value under the function's name.
   */
  resultOf({ name, result, types, modes, names }: TypedRoutine): string {
    const out = types
      .map((oid, i) => ({ oid, column: names?.[i] ?? `column${i + 1}`, mode: modes?.[i] ?? "i" }))
      .filter(({ mode }) => mode === "t" || mode === "o" || mode === "b");
    if (out.length > 0) {
      const columnName = (column: string): string => (out.length === 1 && column === "" ? name : column);
      return `{ ${out.map(({ oid, column }) => `${key(columnName(column))}: ${this.ofOid(oid)} | null;`).join(" ")} }`;
    }
    const type = this.byOid.get(result);
    if (type?.name === "record") return "Record<string, Json>";
    if (type?.name === "void") return `{ ${key(name)}: string | null }`;
    if (type?.relation_schema != null)
      return `Tables[${JSON.stringify(nameOf(type.relation_schema, type.name))}]["row"]`;
    return `{ ${key(name)}: ${this.ofOid(result)} | null }`;
  }

  private textOf({ name, labels, element, relation_schema: schema }: KnownType): string {
    if (labels !== null) return labels.map((label) => JSON.stringify(label)).join(" | ");
    if (schema !== null) return "Json";
    const text = TYPES[name];
    if (text !== undefined) return text;
    return element !== 0 && name.startsWith("_") ? arrayOf(this.ofOid(element)) : "string";
  }
}

const arrayOf = (type: string): string => `(${type} | null)[]`;
