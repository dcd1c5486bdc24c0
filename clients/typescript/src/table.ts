/** A table by its name, for what needs no statement of one's own: rows by the values of columns. */
import type { CallOptions, WriteOptions } from "./options.js";
import type { Result } from "./result.js";
import { Fragment, fragment, identifier, named, statementOf } from "./sql-text.js";
import type { Statements } from "./statements.js";

/** Columns that equal these values; null: those without one. */
export type Where<R> = { readonly [C in keyof R]?: R[C] | null };

/** Which rows are read. */
export interface SelectOptions<R> extends CallOptions {
  /** A column, or several. */
  readonly orderBy?: (keyof R & string) | readonly (keyof R & string)[];
  /** The largest values first. */
  readonly descending?: boolean;
  /** The most rows; 1,000 unless said. */
  readonly limit?: number;
  readonly offset?: number;
}

const LIMIT = 1_000;

/** A table; `R` are its rows, `I` what is inserted, `U` what changes. */
export class Table<R, I, U> {
  private readonly quoted: Fragment;

  /** @internal */
  constructor(
    private readonly statements: Statements,
    /** As it was given: `name`, or `schema.name`. */
    readonly name: string,
  ) {
    this.quoted = named(name);
  }

  /** Stores rows, all or none; gives them with what the table has filled in. */
  insert(rows: I | readonly I[], options: WriteOptions = {}): Promise<Result<R>> {
    const all = (Array.isArray(rows) ? rows : [rows]) as readonly object[];
    const columns = [...new Set(all.flatMap((row) => Object.keys(row)))];
    if (columns.length === 0) throw new TypeError("insert() needs at least one row with a value.");
    const values = all.map((row) => {
      const given = columns.map((column) => {
        const value = (row as Record<string, unknown>)[column];
        return value === undefined ? DEFAULT : value;
      });
      return fragment`(${joined(given, ", ")})`;
    });
    const names = columns.map((column) => identifier(column));
    const text = fragment`INSERT INTO ${this.quoted} (${joined(names, ", ")}) VALUES ${joined(values, ", ")} RETURNING *`;
    return this.run(text, options);
  }

  /** Rows by the values of their columns; all unless said. */
  rows(where: Where<R> = {}, options: SelectOptions<R> = {}): Promise<Result<R>> {
    const { orderBy = [], descending = false, limit = LIMIT, offset = 0, signal } = options;
    const columns = (typeof orderBy === "string" ? [orderBy] : orderBy) as readonly string[];
    const direction = new Fragment([descending ? " DESC" : ""], []);
    const keys = columns.map((column) => fragment`${identifier(column)}${direction}`);
    const order = keys.length === 0 ? NOTHING : fragment` ORDER BY ${joined(keys, ", ")}`;
    const text = fragment`SELECT * FROM ${this.quoted}${whereOf(where)}${order} LIMIT ${limit} OFFSET ${offset}`;
    return this.run(text, { signal, maxRows: Math.max(1, limit) });
  }

  /** The first of the rows with these values; undefined if there is none. */
  async first(where: Where<R> = {}, options: Omit<SelectOptions<R>, "limit"> = {}): Promise<R | undefined> {
    return (await this.rows(where, { ...options, limit: 1 }))[0];
  }

  /** Changes the rows with these values; gives how many. `{}`: all of them. */
  async update(where: Where<R>, change: U, options: WriteOptions = {}): Promise<number> {
    const set = Object.entries(change as Record<string, unknown>)
      .filter(([, value]) => value !== undefined)
      .map(([column, value]) => fragment`${identifier(column)} = ${value}`);
    if (set.length === 0) return 0;
    const text = fragment`UPDATE ${this.quoted} SET ${joined(set, ", ")}${whereOf(where)}`;
    return (await this.run(text, options)).rowsAffected ?? 0;
  }

  /** Removes the rows with these values; gives how many. `{}`: all of them. */
  async delete(where: Where<R>, options: WriteOptions = {}): Promise<number> {
    const text = fragment`DELETE FROM ${this.quoted}${whereOf(where)}`;
    return (await this.run(text, options)).rowsAffected ?? 0;
  }

  /** How many rows have these values. */
  async count(where: Where<R> = {}, { signal }: CallOptions = {}): Promise<number> {
    const counting = fragment`SELECT count(*) AS n FROM ${this.quoted}${whereOf(where)}`;
    const { text, parameters } = statementOf(counting);
    const [row] = await this.statements.query<{ n: number }>(text, parameters, { signal });
    return row!.n;
  }

  private run(statement: Fragment, options: WriteOptions & { readonly maxRows?: number }): Promise<Result<R>> {
    const { text, parameters } = statementOf(statement);
    return this.statements.query<R>(text, parameters, options);
  }
}

const NOTHING = new Fragment([""], []);
const DEFAULT = new Fragment(["DEFAULT"], []);

/** Fragments, and values, which become parameters. */
export function joined(parts: readonly unknown[], between: string): Fragment {
  const texts = ["", ...parts.slice(1).map(() => between), ""];
  return parts.length === 0 ? NOTHING : new Fragment(texts, parts);
}

function whereOf(where: object): Fragment {
  const terms = Object.entries(where)
    .filter(([, value]) => value !== undefined)
    .map(([column, value]) =>
      value === null ? fragment`${identifier(column)} IS NULL` : fragment`${identifier(column)} = ${value}`,
    );
  return terms.length === 0 ? NOTHING : fragment` WHERE ${joined(terms, " AND ")}`;
}
