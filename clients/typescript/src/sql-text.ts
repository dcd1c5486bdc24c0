/** Statements from tagged templates: values become parameters, never text. Pure. */

/** A part of a statement, with the values of its parameters. */
export class Fragment {
  constructor(
    /** The text around the values: one more than there are values. */
    readonly texts: readonly string[],
    readonly values: readonly unknown[],
  ) {}
}

/** A part of a statement, to put into others: ``sql`SELECT * FROM pet ${fragment`WHERE id = ${id}`}` ``. */
export function fragment(texts: readonly string[], ...values: readonly unknown[]): Fragment {
  return new Fragment([...texts], values);
}

/** A name of a table or column, quoted; `schema.table` as two arguments. */
export function identifier(...names: readonly string[]): Fragment {
  return new Fragment([names.map((name) => `"${name.replaceAll('"', '""')}"`).join(".")], []);
}

/** The same by one text: what stands before its first dot is the schema. */
export function named(name: string): Fragment {
  const dot = name.indexOf(".");
  return dot < 0 ? identifier(name) : identifier(name.slice(0, dot), name.slice(dot + 1));
}

/** The text with $1, $2 …, and their values. */
export function statementOf({ texts, values }: Fragment): { readonly text: string; readonly parameters: unknown[] } {
  const parameters: unknown[] = [];
  const written = (part: Fragment): string =>
    part.texts.reduce((text, next, i) => {
      const value = part.values[i - 1];
      if (value instanceof Fragment) return text + written(value) + next;
      parameters.push(value);
      return `${text}$${parameters.length}${next}`;
    });
  const text = written({ texts, values });
  return { text, parameters };
}

/** As JSON has them: dates as RFC 3339, big integers as text, bytes as PostgreSQL's hex, vectors as lists. */
export function parameterOf(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === "bigint") return String(value);
  if (value instanceof Uint8Array) {
    return `\\x${Array.from(value, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  }
  if (value instanceof Float32Array || value instanceof Float64Array) return Array.from(value);
  return value;
}
