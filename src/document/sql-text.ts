/**
 * Names and paths of requests as parts of the statements that this room makes: always quoted, whatever they hold.
 * Values never get there, they are parameters.
 */

/** A name in double quotes. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text in single quotes. */
export function literal(text: string): string {
  const body = text.replaceAll("'", "''");
  return body.includes("\\") ? `E'${body.replaceAll("\\", "\\\\")}'` : `'${body}'`;
}

/** The names of a path as a text[] literal: '{"a","b c"}'. */
export function pathLiteral(path: readonly string[]): string {
  return literal(`{${path.map((name) => `"${name.replace(/["\\]/g, "\\$&")}"`).join(",")}}`);
}

/** What indexes have for a path below a column of type jsonb (query/expr/functions/documents.ts). */
export function indexKey(column: string, path: readonly string[]): string {
  return `jsonb_index_key(${column}, ${pathLiteral(path)})`;
}

/** Values of one statement: each gets the next number. */
export class Parameters {
  readonly values: unknown[] = [];

  /** "$3", with its type so that the text alone fixes it. */
  add(value: unknown, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }

  /** Any JSON value as jsonb; strings are quoted, since a parameter's text is read as JSON. */
  addJson(value: unknown): string {
    return this.add(typeof value === "string" ? JSON.stringify(value) : value, "jsonb");
  }
}
