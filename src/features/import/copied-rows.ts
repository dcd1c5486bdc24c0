/**
 * Rows of COPY … FROM stdin in PostgreSQL's text format, as dumps have them, stored by INSERT. Called by run-script.ts.
 */
import { sqlError } from "../../protocol/errors.js";

/** Rows and parameters of one INSERT. */
const ROWS_AT_ONCE = 500;
const PARAMETERS_AT_ONCE = 10_000;

const LETTERS: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

export class CopiedRows {
  private readonly target: string;
  private values: (string | null)[] = [];
  private fields = 0;
  private rows = 0;

  /** `statement`: the COPY. Throws 22023 for formats other than text. */
  constructor(
    statement: string,
    private readonly insert: (sql: string, params: readonly (string | null)[]) => unknown,
  ) {
    const [, target, options] = /^\s*copy\s+(.+?)\s+from\s+stdin\s*(.*)$/is.exec(statement)!;
    if (options !== "") {
      throw sqlError("22023", `COPY in a script takes rows in the text format only, without "${options}"`, {
        hint: "POST /v1/data/import/csv loads CSV.",
      });
    }
    this.target = target!;
  }

  /** Throws 22P04 for a row with more or fewer fields than the first. */
  async add(row: string, line: number): Promise<void> {
    const fields = row.split("\t").map(fieldOf);
    if (this.rows === 0 && this.fields === 0) this.fields = fields.length;
    if (fields.length !== this.fields) {
      const message = `the row on line ${line} has ${fields.length} fields, but the first one has ${this.fields}`;
      throw sqlError("22P04", message, { line });
    }
    for (const field of fields) this.values.push(field);
    this.rows++;
    if (this.rows === ROWS_AT_ONCE || this.values.length + this.fields > PARAMETERS_AT_ONCE) await this.flush();
  }

  /** Stores the remaining rows. Throws the errors of INSERT. */
  async flush(): Promise<void> {
    const { rows, fields, values } = this;
    if (rows === 0) return;
    const row = (r: number): string =>
      `(${Array.from({ length: fields }, (_, f) => `$${r * fields + f + 1}`).join(",")})`;
    const sql = `INSERT INTO ${this.target} VALUES ${Array.from({ length: rows }, (_, r) => row(r)).join(",")}`;
    this.values = [];
    this.rows = 0;
    await this.insert(sql, values);
  }
}

function fieldOf(text: string): string | null {
  if (text === "\\N") return null;
  if (!text.includes("\\")) return text;
  return text.replaceAll(/\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)/gs, (_, escaped: string) => {
    if (/^[0-7]/.test(escaped)) return String.fromCharCode(Number.parseInt(escaped, 8));
    if (/^x./.test(escaped)) return String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
    return LETTERS[escaped] ?? escaped;
  });
}
