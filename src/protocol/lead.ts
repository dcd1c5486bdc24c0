/**
 * The lead of an API key: what a program, often a language model, may do with it less than its user may. It is part of
 * the key, travels as JSON text with the identity and in the head of each request, and is looked at by the rights of
 * statements (catalog/rights.ts) and before a request is handled (actor/key-lead.ts).
 */

/** What kinds of statements there are, from the least. */
export const STATEMENT_KINDS = ["read", "write", "definition"] as const;
export type StatementKind = (typeof STATEMENT_KINDS)[number];

/** What is absent is not bounded. */
export interface Lead {
  /** A role of the tenant (CREATE ROLE) that the key acts as, in place of its user's. */
  readonly role?: string;
  /** Tables and views that its statements may name: "orders" of the schema public, "sales.orders" of another. */
  readonly tables?: readonly string[];
  /** ["read"], ["read", "write"], or all three. */
  readonly statements?: readonly StatementKind[];
  /** Tools that it may call by MCP; then it can do nothing else. */
  readonly tools?: readonly string[];
  /** Rows of results, and bytes of answers, that it may read in a day of UTC. */
  readonly rows_per_day?: number;
  readonly bytes_per_day?: number;
  /** Tokens that models read and write for it in a day of UTC: chats, agents, generated texts, embeddings. */
  readonly tokens_per_day?: number;
  /** Names of models that it may use; without a word about the model the configured one counts. */
  readonly models?: readonly string[];
  /** The key's id, and whether its user administers the tenant; only in identities. */
  readonly key?: string;
  readonly administrator?: boolean;
  /** It is an agent's, which works for whoever started it: at most what both may do. */
  readonly ofAgent?: true;
}

/** For messages. */
export function holderOf({ ofAgent }: Lead): string {
  return ofAgent === true ? "agent" : "API key";
}

/** What it may name and run, and what another one would need; null: nothing of that is bounded. */
export function boundsOf(lead: Lead): string | null {
  const { tables, statements } = lead;
  const may = [
    ...(tables === undefined ? [] : [`name ${tables.length === 0 ? "no tables" : tables.join(", ").slice(0, 500)}`]),
    ...(statements === undefined ? [] : [`run statements of these kinds: ${statements.join(", ")}`]),
  ];
  if (may.length === 0) return null;
  const fields = [...(tables ? ["lead.tables"] : []), ...(statements ? ["lead.statements"] : [])];
  return `The ${holderOf(lead)} is on a lead. It may ${may.join("; it may ")}. Another one needs more in ${fields.join(" or ")}.`;
}

/** What both leads allow. */
export function narrowed(lead: Lead, { tables, statements }: Pick<Lead, "tables" | "statements">): Lead {
  const full = (name: string) => (name.includes(".") ? name : `public.${name}`);
  const listed = new Set(lead.tables?.map(full));
  const both = lead.tables === undefined ? tables : (tables?.filter((name) => listed.has(full(name))) ?? lead.tables);
  const kinds =
    lead.statements === undefined ? statements : lead.statements.filter((kind) => statements?.includes(kind) !== false);
  return { ...lead, ...(both !== undefined && { tables: both }), ...(kinds !== undefined && { statements: kinds }) };
}

const parsed = new Map<string, Lead>();
const PARSED_MAX = 1000;

/** Of the text in an identity or a head. The same object for the same text, most of the time. */
export function leadOf(text: string): Lead {
  let lead = parsed.get(text);
  if (lead === undefined) {
    if (parsed.size >= PARSED_MAX) parsed.clear();
    lead = JSON.parse(text) as Lead;
    parsed.set(text, lead);
  }
  return lead;
}

/** Whether what it reads is counted. */
export function hasReadBudget({ rows_per_day, bytes_per_day }: Lead): boolean {
  return rows_per_day !== undefined || bytes_per_day !== undefined;
}

/** Whether anything of what it does is counted, or a model may be refused. */
export function hasBudget(lead: Lead): boolean {
  return hasReadBudget(lead) || lead.tokens_per_day !== undefined || lead.models !== undefined;
}

/** Whether it may run such statements. */
export function leadAllows({ statements }: Lead, kind: StatementKind): boolean {
  return statements?.includes(kind) !== false;
}
