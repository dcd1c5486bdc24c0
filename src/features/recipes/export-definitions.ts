/**
 * What a tenant defined beside its tables, as statements of a recipe: types, sequences, functions, procedures and
 * views; and the order in which they, and the tables, are made. Called by export-recipe.ts within its snapshot; holds
 * no state.
 */

import { type CatalogView, DEFAULT_SCHEMA } from "../../catalog/catalog-view.js";
import { withoutReferences } from "../../catalog/object-reference.js";
import type { SequenceDef } from "../../catalog/sequence.js";
import { isRowType } from "../../catalog/type.js";
import type { StatementText } from "../../session/statement-run.js";
import { type Token, tokenize } from "../../sql/parse/tokens.js";
import type { SqlType } from "../../values/values.js";

export type Row = readonly unknown[];
export type Ask = (text: StatementText) => Promise<readonly Row[]>;

/** One definition. */
export interface Defined {
  readonly kind: "type" | "sequence" | "routine" | "view" | "table";
  /** Later definitions have greater ones. */
  readonly id: number;
  readonly name: string;
  readonly statements: readonly string[];
  /** What has to be looked through for names of other definitions. */
  readonly mentions: string;
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** As the catalog has them at one time. */
export interface Definitions {
  readonly types: ReturnType<CatalogView["types"]>;
  readonly sequences: ReturnType<CatalogView["sequences"]>;
  readonly functions: ReturnType<CatalogView["functions"]>;
  readonly views: ReturnType<CatalogView["views"]>;
}

const isOurs = ({ schema, name }: { readonly schema: string; readonly name: string }): boolean =>
  schema === DEFAULT_SCHEMA && !name.startsWith("_");

const DOMAINS = `SELECT t.typname, format_type(t.typbasetype, t.typtypmod) FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
  WHERE n.nspname = 'public' AND t.typtype = 'd'`;
const ROUTINES = `SELECT p.proname, pg_get_function_identity_arguments(p.oid), pg_get_functiondef(p.oid)
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'public' AND p.prokind IN ('f', 'p') ORDER BY p.oid`;
const VIEWS = `SELECT c.relname, pg_get_viewdef(c.oid), (SELECT jsonb_agg(a.attname ORDER BY a.attnum) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relkind = 'v'`;

export async function typesOf({ types: all }: Definitions, ask: Ask): Promise<Defined[]> {
  const types = all.filter((type) => isOurs(type) && !isRowType(type));
  const needs = (kind: string) => types.some((type) => type.kind === kind);
  const bases = new Map(
    (needs("domain") ? await ask({ sql: DOMAINS, params: [] }) : []).map(([name, base]) => [name, base]),
  );
  return types.flatMap((type) => {
    const { id, name } = type;
    let sql: string;
    if (type.kind === "enum") {
      sql = `CREATE TYPE ${quoted(name)} AS ENUM (${type.labels.map(({ label }) => literal(label)).join(", ")})`;
    } else if (type.kind === "composite") {
      const list = type.fields.map((field) => `${quoted(field.name)} ${typeText(field.type)}`);
      sql = `CREATE TYPE ${quoted(name)} AS (${list.join(", ")})`;
    } else if (type.kind === "range") {
      const { subtype, multirange, collation, subtypeDiff } = type;
      const options = [
        `subtype = ${typeText(subtype)}`,
        `multirange_type_name = ${quoted(multirange.name)}`,
        ...(collation === undefined ? [] : [`collation = ${quoted(collation)}`]),
        ...(subtypeDiff === undefined ? [] : [`subtype_diff = ${quoted(subtypeDiff)}`]),
      ];
      sql = `CREATE TYPE ${quoted(name)} AS RANGE (${options.join(", ")})`;
    } else if (type.kind === "multirange") {
      // Its range makes it.
      return [];
    } else {
      const { notNull, defaultSql, checks } = type;
      const parts = [
        `CREATE DOMAIN ${quoted(name)} AS ${bases.get(name) as string}`,
        ...(defaultSql === null ? [] : [`DEFAULT ${withoutReferences(defaultSql)}`]),
        ...(notNull ? ["NOT NULL"] : []),
        ...checks.map((check) => `CONSTRAINT ${quoted(check.name)} CHECK (${withoutReferences(check.sql)})`),
      ];
      sql = parts.join(" ");
    }
    return defined("type", id, name, [sql]);
  });
}

/** As SQL writes it. */
function typeText({ name, modifier, element, user }: SqlType): string {
  if (element !== null) return `${typeText(element)}[]`;
  if (user !== undefined) return quoted(user.name);
  if (modifier === null) return name;
  // A numeric's are its precision and scale in one number.
  return name === "numeric" ? `numeric(${Math.floor(modifier / 2048)}, ${modifier % 2048})` : `${name}(${modifier})`;
}

/** Those that no column owns: theirs are made with the columns. */
export function sequencesOf({ sequences }: Definitions): Defined[] {
  const free = sequences.filter((sequence) => isOurs(sequence) && sequence.ownedBy === null);
  return free.map((sequence) => {
    const { id, name, type } = sequence;
    return defined("sequence", id, name, [`CREATE SEQUENCE ${quoted(name)} AS ${type.name} ${countingOf(sequence)}`]);
  });
}

/** How a sequence counts. */
export function countingOf({ start, increment, min, max, cycle, cache }: SequenceDef): string {
  const numbers = `START WITH ${start} INCREMENT BY ${increment} MINVALUE ${min} MAXVALUE ${max} CACHE ${cache}`;
  return `${numbers}${cycle ? " CYCLE" : ""}`;
}

/** `notes`: gets what cannot be exported. */
export async function routinesOf({ functions }: Definitions, ask: Ask, notes: string[]): Promise<Defined[]> {
  const routines = functions.filter(isOurs);
  for (const { name } of routines.filter(({ kind }) => kind === "aggregate")) {
    notes.push(`${name}: aggregates are not exported.`);
  }
  if (routines.length === 0) return [];
  const texts = await ask({ sql: ROUTINES, params: [] });
  // Overloads are told apart by the order in which both lists have them.
  const byName = new Map<string, string[]>();
  for (const [name, , text] of texts)
    byName.set(name as string, [...(byName.get(name as string) ?? []), text as string]);
  return routines
    .filter(({ kind }) => kind !== "aggregate")
    .sort((one, other) => one.id - other.id)
    .map(({ id, name, language }) => {
      const text = unqualified(byName.get(name)!.shift()!.trim());
      // What PL/pgSQL names is looked up when it runs; only its signature has to be there.
      return defined("routine", id, name, [text], language === "plpgsql" ? text.slice(0, text.indexOf("\nAS ")) : text);
    });
}

export async function viewsOf({ views: all }: Definitions, ask: Ask, notes: string[]): Promise<Defined[]> {
  const views = all.filter(isOurs);
  for (const { name } of views.filter(({ graph }) => graph !== undefined)) {
    notes.push(`${name}: property graphs are not exported.`);
  }
  if (views.length === 0) return [];
  const texts = new Map((await ask({ sql: VIEWS, params: [] })).map((row) => [row[0], row]));
  return views.flatMap(({ id, name, checkOption, graph, triggers, rules }) => {
    if (graph !== undefined) return [];
    if ((triggers ?? rules) !== undefined) notes.push(`${name}: exported without its triggers and rules.`);
    const [, text, columns] = texts.get(name)!;
    const query = unqualified((text as string).trim().replace(/;$/, ""));
    const checks = checkOption === null ? "" : ` WITH ${checkOption.toUpperCase()} CHECK OPTION`;
    const list = (columns as string[]).map(quoted).join(", ");
    return [defined("view", id, name, [`CREATE VIEW ${quoted(name)} (${list}) AS ${query}${checks}`])];
  });
}

export function defined(
  kind: Defined["kind"],
  id: number,
  name: string,
  statements: readonly string[],
  mentions = statements.join("\n"),
): Defined {
  return { kind, id, name, statements, mentions };
}

/** A definition after those whose names it mentions, else as they were made; so are those that mention each other. */
export function inOrder(all: readonly Defined[]): Defined[] {
  const names = new Set(all.map(({ name }) => name));
  const mentioned = new Map(all.map((one) => [one, wordsOf(one.mentions, names)]));
  let waiting = [...all].sort((one, other) => one.id - other.id);
  const ordered: Defined[] = [];
  while (waiting.length > 0) {
    const isFree = (one: Defined) =>
      !waiting.some((other) => other.name !== one.name && mentioned.get(one)!.has(other.name));
    const next = waiting.find(isFree) ?? waiting[0]!;
    ordered.push(next);
    waiting = waiting.filter((one) => one !== next);
  }
  return ordered;
}

/** Those of `among` that `some` mention, directly or through each other. */
export function neededBy(some: readonly Defined[], among: readonly Defined[]): Defined[] {
  const names = new Set(among.map(({ name }) => name));
  const needed = new Set<Defined>();
  let next: readonly Defined[] = some;
  while (next.length > 0) {
    const words = next.map(({ mentions }) => wordsOf(mentions, names));
    next = among.filter((one) => !needed.has(one) && words.some((some) => some.has(one.name)));
    for (const one of next) needed.add(one);
  }
  return [...needed];
}

/** Names of `known` that occur in an SQL text, bodies of functions included. */
function wordsOf(text: string, known: ReadonlySet<string>): ReadonlySet<string> {
  const words = new Set<string>();
  for (const [, inQuotes, plain] of text.matchAll(/"((?:[^"]|"")+)"|([A-Za-z_][\w$]*)/g)) {
    const word = inQuotes === undefined ? plain!.toLowerCase() : inQuotes.replaceAll('""', '"');
    if (known.has(word)) words.add(word);
  }
  return words;
}

/** `nextval('public.ticket')` */
const isSequenceName = (token: Token, before: Token | undefined): boolean =>
  token.kind === "string" && token.text.startsWith("'public.") && /^(nextval|currval|setval)$/.test(before?.text ?? "");

/**
 * Without the name of the usual schema: a recipe makes what it makes where its tenant's, or its certification's, things
 * are.
 */
export function unqualified(sql: string): string {
  const tokens = tokenize(sql);
  const isSchema = (token: Token, next: Token | undefined) =>
    (token.text === "public" || token.text === '"public"') && next?.text === "." && token.kind !== "string";
  let text = "";
  let from = 0;
  tokens.forEach((token, i) => {
    const next = tokens[i + 1];
    const body = /^\$(\w*)\$([\s\S]*)\$\1\$$/.exec(token.text);
    if (token.kind === "string" && body !== null) {
      text += `${sql.slice(from, token.start)}$${body[1]}$${unqualified(body[2]!)}$${body[1]}$`;
      from = token.end;
    } else if (isSequenceName(token, tokens[i - 2])) {
      text += `${sql.slice(from, token.start)}'${token.text.slice("'public.".length)}`;
      from = token.end;
    } else if (isSchema(token, next)) {
      text += sql.slice(from, token.start);
      from = next!.end;
    }
  });
  return text + sql.slice(from);
}
