/** COPY as PostgreSQL's grammar reads it. Only the protocol's own server runs it: its rows are messages. */
import { hasSqlDetails, parseSync } from "libpg-query";
import { sqlError } from "../../protocol/errors.js";
import { beginsWith, skipBlank, tokenize } from "./tokens.js";

export interface CopyStatement {
  readonly direction: "in" | "out";
  /** Null: of a query. */
  readonly table: { readonly schema: string | null; readonly name: string } | null;
  /** Text of the query in parentheses; null: of a table. */
  readonly query: string | null;
  /** Names; null: all. */
  readonly columns: readonly string[] | null;
  readonly format: "text" | "csv" | "binary";
  readonly delimiter: string;
  readonly nullText: string;
  readonly quote: string;
  readonly escape: string;
  readonly header: boolean;
  /** The header must have the names of the columns. */
  readonly matchesHeader: boolean;
  /** Of CSV: columns that are quoted always; "*": all. */
  readonly forceQuote: readonly string[] | "*";
  /** Of CSV that comes in: columns whose quoted fields may be NULL, and those that never are. */
  readonly forceNull: readonly string[] | "*";
  readonly forceNotNull: readonly string[] | "*";
  /** Text of the condition that rows must satisfy to be stored; null: none. */
  readonly where: string | null;
}

const COPY = /copy\b/iy;

interface RawOption {
  readonly DefElem: { readonly defname: string; readonly arg?: Readonly<Record<string, Record<string, unknown>>> };
}

/** INTO stands in the first of the queries that UNION and the like put together. */
interface RawSelect {
  readonly intoClause?: unknown;
  readonly larg?: RawSelect;
}

interface RawCopy {
  readonly relation?: { readonly schemaname?: string; readonly relname: string };
  readonly query?: { readonly SelectStmt?: RawSelect };
  readonly attlist?: readonly { readonly String: { readonly sval: string } }[];
  readonly is_from?: boolean;
  readonly is_program?: boolean;
  readonly filename?: string;
  readonly options?: readonly RawOption[];
  readonly whereClause?: unknown;
}

/** Null: it is another statement, or none at all. Throws 42601, 0A000, 42501. */
export function parseCopy(text: string): CopyStatement | null {
  if (!beginsWith(text, COPY)) return null;
  const raw = rawCopy(text);
  if (raw === null) return null;
  const direction = raw.is_from === true ? "in" : "out";
  if (raw.is_program === true || raw.filename !== undefined) {
    throw sqlError("42501", "COPY works on STDIN and STDOUT only: the server reads and writes no files for clients", {
      hint: "Use psql's \\copy, or COPY … FROM STDIN.",
    });
  }
  if (hasInto(raw.query)) throw sqlError("0A000", "COPY (SELECT INTO) is not supported");
  const options = new Map<string, OptionValue>();
  for (const { DefElem } of raw.options ?? []) {
    if (options.has(DefElem.defname)) throw sqlError("42601", "conflicting or redundant options");
    options.set(DefElem.defname, optionValue(DefElem.arg));
  }
  const format = formatOf(options);
  return {
    direction,
    table: raw.relation === undefined ? null : { schema: raw.relation.schemaname ?? null, name: raw.relation.relname },
    query: raw.query === undefined ? null : queryIn(text),
    columns: raw.attlist?.map(({ String: name }) => name.sval) ?? null,
    format,
    where: raw.whereClause === undefined ? null : conditionIn(text),
    ...styleOf(options, format, direction),
  };
}

function hasInto(query: RawCopy["query"]): boolean {
  for (let part = query?.SelectStmt; part !== undefined; part = part.larg)
    if (part.intoClause !== undefined) return true;
  return false;
}

function rawCopy(text: string): RawCopy | null {
  try {
    const [statement] = parseSync(text).stmts ?? [];
    const node = statement?.stmt as { readonly CopyStmt?: RawCopy } | undefined;
    return node?.CopyStmt ?? null;
  } catch (error) {
    if (!hasSqlDetails(error)) throw error;
    throw sqlError("42601", error.message, { position: (error.sqlDetails?.cursorPosition ?? 0) + 1 });
  }
}

type OptionValue = string | boolean | readonly string[];

function optionValue(arg: RawOption["DefElem"]["arg"]): OptionValue {
  if (arg === undefined) return true;
  if (arg.String !== undefined) return String(arg.String.sval ?? "");
  if (arg.Boolean !== undefined) return arg.Boolean.boolval === true;
  if (arg.Integer !== undefined) return Number(arg.Integer.ival ?? 0) !== 0;
  if (arg.A_Star !== undefined) return "*";
  const items = (arg.List?.items ?? []) as readonly { readonly String?: { readonly sval: string } }[];
  return items.map((item) => item.String?.sval ?? "");
}

function formatOf(options: ReadonlyMap<string, OptionValue>): CopyStatement["format"] {
  const format = options.get("format") ?? "text";
  if (format === "text" || format === "csv" || format === "binary") return format;
  throw sqlError("22023", `COPY format "${String(format)}" not recognized`);
}

/** Options that change nothing here, and those that only a value that is in force anyway may have. */
const IGNORED = new Set(["format", "freeze"]);

type Style = Omit<CopyStatement, "direction" | "table" | "query" | "columns" | "format" | "where">;

function styleOf(
  options: ReadonlyMap<string, OptionValue>,
  format: CopyStatement["format"],
  direction: CopyStatement["direction"],
): Style {
  const isCsv = format === "csv";
  let style: Style = {
    delimiter: isCsv ? "," : "\t",
    nullText: isCsv ? "" : "\\N",
    quote: '"',
    escape: "",
    header: false,
    matchesHeader: false,
    forceQuote: [],
    forceNull: [],
    forceNotNull: [],
  };
  for (const [name, value] of options) {
    if (IGNORED.has(name)) continue;
    style = { ...style, ...optionOf(name, value, isCsv, direction) };
  }
  style = { ...style, escape: style.escape || style.quote };
  if (!isCsv && /[\\.a-z0-9]/.test(style.delimiter)) {
    throw sqlError("22023", `COPY delimiter cannot be "${style.delimiter}"`);
  }
  if (isCsv && style.delimiter === style.quote) throw sqlError("22023", "COPY delimiter and quote must be different");
  return style;
}

/** What the options of CSV that name columns are about. */
const FORCING = {
  force_quote: ["forceQuote", "out", "COPY force quote"],
  force_null: ["forceNull", "in", "COPY force null"],
  force_not_null: ["forceNotNull", "in", "COPY force not null"],
} as const;

function optionOf(
  name: string,
  value: OptionValue,
  isCsv: boolean,
  direction: CopyStatement["direction"],
): Partial<Style> {
  switch (name) {
    case "delimiter":
      return { delimiter: oneByte("delimiter", value) };
    case "null":
      return { nullText: String(value) };
    case "header":
      if (/^match$/i.test(String(value))) {
        if (direction === "in") return { header: true, matchesHeader: true };
        throw sqlError("0A000", 'cannot use "match" with HEADER in COPY TO');
      }
      return { header: value !== false && !/^(?:false|off|no|0)$/i.test(String(value)) };
    case "quote":
      if (!isCsv) throw sqlError("0A000", "COPY quote available only in CSV mode");
      return { quote: oneByte("quote", value) };
    case "escape":
      if (!isCsv) throw sqlError("0A000", "COPY escape available only in CSV mode");
      return { escape: oneByte("escape", value) };
    case "force_quote":
    case "force_null":
    case "force_not_null": {
      const [key, way, what] = FORCING[name];
      if (!isCsv) throw sqlError("0A000", `${what} available only in CSV mode`);
      if (direction !== way)
        throw sqlError("0A000", `${what} only available using COPY ${way === "in" ? "FROM" : "TO"}`);
      return { [key]: value as readonly string[] | "*" };
    }
    case "encoding":
      if (!/^utf-?8$|^unicode$|^sql_ascii$/i.test(String(value))) {
        throw sqlError("0A000", `COPY takes the encoding UTF8 only, not "${String(value)}"`);
      }
      return {};
    default:
      throw sqlError("0A000", `COPY's option ${name} is not supported`);
  }
}

function oneByte(name: string, value: OptionValue): string {
  if (typeof value === "string" && value.length === 1 && value.charCodeAt(0) < 128 && !/[\r\n]/.test(value))
    return value;
  throw sqlError("0A000", `COPY ${name} must be a single one-byte character`);
}

/** Between the first parenthesis and the last one before TO. */
function queryIn(text: string): string {
  const from = text.indexOf("(", skipBlank(text, 0));
  const to = /\)\s*to\s+stdout\b[\s\S]*$/i.exec(text);
  if (from < 0 || to === null) throw sqlError("42601", "COPY of a query is written COPY (query) TO STDOUT");
  return text.slice(from + 1, to.index);
}

/** Behind the first WHERE outside of parentheses; the grammar has read the rest. */
function conditionIn(text: string): string {
  const tokens = tokenize(text);
  const where = tokens.find(({ text: word, kind, depth }) => kind === "word" && depth === 0 && word === "where")!;
  const last = tokens.at(-1)!;
  return text.slice(where.end, last.text === ";" ? last.start : text.length);
}
