/** Statements that make and change definitions, from what forms hold. Pure. */
import { relationOfId } from "../../lib/relation-names.js";
import { quotedName, tableName } from "../query/sidebar.js";
import { named } from "./table-facts.js";

export interface ColumnDraft {
  readonly name: string;
  readonly type: string;
  /** "": none. An expression of SQL. */
  readonly standard: string;
  readonly isKey: boolean;
  readonly isRequired: boolean;
  readonly isUnique: boolean;
}

export const NEW_COLUMN: ColumnDraft = {
  ...{ name: "", type: "text", standard: "", isKey: false, isRequired: false, isUnique: false },
};

/** Those that are mostly wanted; any other can be written. */
export const TYPES = [
  ...["text", "integer", "bigint", "boolean", "numeric(12, 2)", "double precision", "date", "timestamptz", "uuid"],
  ...["jsonb", "text[]", "bytea", "vector(384)", "bigint GENERATED ALWAYS AS IDENTITY"],
];

export function isWhole({ name, type }: ColumnDraft): boolean {
  return name.trim() !== "" && type.trim() !== "";
}

function columnText({ name, type, standard, isRequired, isUnique }: ColumnDraft): string {
  const rest = [
    ...(isRequired ? ["NOT NULL"] : []),
    ...(isUnique ? ["UNIQUE"] : []),
    ...(standard.trim() === "" ? [] : [`DEFAULT ${standard.trim()}`]),
  ];
  return [quotedName(name.trim()), type.trim(), ...rest].join(" ");
}

export function tableStatement(name: string, columns: readonly ColumnDraft[]): string {
  const whole = columns.filter(isWhole);
  const keys = whole.filter(({ isKey }) => isKey).map((column) => quotedName(column.name.trim()));
  const lines = [...whole.map(columnText), ...(keys.length === 0 ? [] : [`PRIMARY KEY (${keys.join(", ")})`])];
  return `CREATE TABLE ${named(name.trim())} (\n  ${lines.join(",\n  ")}\n)`;
}

/** With `isKept` its rows are stored, and stay as they are until it is refreshed. */
export function viewStatement(name: string, query: string, isKept: boolean): string {
  const text = query.trim().replace(/;$/, "").trimEnd();
  return `CREATE ${isKept ? "MATERIALIZED " : ""}VIEW ${named(name.trim())} AS\n${text}`;
}

export function columnStatement(table: string, column: ColumnDraft): string {
  return `ALTER TABLE ${named(table)}\n  ADD COLUMN ${columnText(column)}`;
}

export function columnDropStatement(table: string, column: string): string {
  return `ALTER TABLE ${named(table)}\n  DROP COLUMN ${quotedName(column)}`;
}

/** What an index is for; the server's name of its method is the statement's business. */
export type IndexKind = "order" | "unique" | "words" | "parts" | "near";

export interface IndexDraft {
  readonly kind: IndexKind;
  readonly columns: readonly string[];
  /** Of words. */
  readonly language: string;
  /** Of vectors. */
  readonly metric: "cosine" | "l2" | "ip";
  /** "": of all rows. */
  readonly condition: string;
}

export function indexStatement(table: string, { kind, columns, language, metric, condition }: IndexDraft): string {
  const names = columns.map(quotedName);
  const head = `CREATE ${kind === "unique" ? "UNIQUE " : ""}INDEX ON ${named(table)}`;
  if (kind === "words") {
    const text = names.length === 1 ? names[0]! : names.map((name) => `coalesce(${name}, '')`).join(" || ' ' || ");
    return `${head}\n  USING gin (to_tsvector('${language}', ${text}))`;
  }
  if (kind === "parts") return `${head}\n  USING gin (${names.map((name) => `${name} gin_trgm_ops`).join(", ")})`;
  if (kind === "near") return `${head}\n  USING hnsw (${names[0] ?? ""} vector_${metric}_ops)`;
  return `${head} (${names.join(", ")})${condition.trim() === "" ? "" : `\n  WHERE ${condition.trim()}`}`;
}

/** An index is in the schema of its table. */
export function indexDropStatement(table: string, index: string): string {
  return `DROP INDEX ${tableName({ schema: relationOfId(table).schema, name: index })}`;
}

export type PolicyCommand = "ALL" | "SELECT" | "INSERT" | "UPDATE" | "DELETE";

export interface PolicyDraft {
  readonly name: string;
  readonly command: PolicyCommand;
  readonly isRestrictive: boolean;
  /** "": of all. */
  readonly role: string;
  /** Of rows that are found; "": none. */
  readonly using: string;
  /** Of rows that are stored; "": the same. */
  readonly check: string;
}

export function policyStatement(table: string, policy: PolicyDraft): string {
  const { name, command, isRestrictive, role, using, check } = policy;
  const lines = [
    `CREATE POLICY ${quotedName(name.trim())} ON ${named(table)}`,
    ...(isRestrictive ? ["  AS RESTRICTIVE"] : []),
    `  FOR ${command} TO ${role === "" ? "PUBLIC" : quotedName(role)}`,
    ...(using.trim() === "" || command === "INSERT" ? [] : [`  USING (${using.trim()})`]),
    ...(check.trim() === "" || command === "SELECT" || command === "DELETE" ? [] : [`  WITH CHECK (${check.trim()})`]),
  ];
  return lines.join("\n");
}

export function policyDropStatement(table: string, policy: string): string {
  return `DROP POLICY ${quotedName(policy)} ON ${named(table)}`;
}

export function rowSecurityStatement(table: string, isOn: boolean): string {
  return `ALTER TABLE ${named(table)} ${isOn ? "ENABLE" : "DISABLE"} ROW LEVEL SECURITY`;
}
