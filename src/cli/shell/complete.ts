/** Completion of the shell: commands, keywords, and the tenant's tables, columns and functions. */
import type { Query } from "./describe.js";

const KEYWORDS =
  "ALTER ANALYZE AND AS ASC BEGIN BETWEEN BY CASE CAST COMMIT CREATE CROSS DELETE DESC DISTINCT DROP ELSE END EXISTS EXPLAIN FROM FULL GROUP HAVING ILIKE IN INDEX INNER INSERT INTO IS JOIN LEFT LIKE LIMIT MATCH MERGE NOT NULL OFFSET ON OR ORDER OVER PARTITION PRIMARY REFERENCES RETURN RETURNING RIGHT ROLLBACK SELECT SET TABLE THEN UNION UNIQUE UNWIND UPDATE USING VALUES VIEW WHEN WHERE WITH".split(
    " ",
  );

const NAMES = `
  SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r','p','v','m') AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'
  UNION SELECT a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r','p','v','m') AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'
  UNION SELECT nspname FROM pg_namespace ORDER BY 1 LIMIT 5000`;

export class Completer {
  private names: readonly string[] = [];

  constructor(
    private readonly query: Query,
    private readonly commands: readonly string[],
  ) {}

  /** Asks for the names; after definitions have changed they are others. Does nothing where that fails. */
  async renew(): Promise<void> {
    try {
      this.names = (await this.query(NAMES)).rows.map(([name]) => String(name));
    } catch {
      // Completion is a help; the statement that the user sends will say what is wrong.
    }
  }

  /** The possible ends of the line's last word, and that word. */
  complete(line: string): [string[], string] {
    if (line.startsWith("\\") && !line.includes(" ")) {
      return [this.commands.filter((command) => command.startsWith(line)), line];
    }
    const word = /[\w\\]*$/.exec(line)![0];
    if (word === "") return [[], word];
    const isLower = word === word.toLowerCase();
    const words = isLower ? KEYWORDS.map((keyword) => keyword.toLowerCase()) : KEYWORDS;
    const begins = (name: string): boolean => name.toLowerCase().startsWith(word.toLowerCase());
    return [[...new Set([...this.names.filter(begins), ...words.filter(begins)])], word];
  }
}
