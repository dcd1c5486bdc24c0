/**
 * Tables, columns and foreign keys as plain facts, from which questions are answered. The actor makes them from the
 * live catalog per question; nothing here is kept.
 */

export type ColumnKind = "text" | "number" | "date" | "timestamp" | "boolean" | "other";

export interface ColumnFacts {
  readonly name: string;
  readonly kind: ColumnKind;
  /** As SQL writes the type; for prompts. */
  readonly typeName: string;
  readonly nullable: boolean;
  /** Part of the primary key or of a foreign key. */
  readonly isKey: boolean;
  /** A date or timestamp that is stored as text. */
  readonly isText?: true;
  /** What its values are in, where its name does not say so and they do. */
  readonly unit?: string;
  /** Of what no column holds: what it is made of. */
  readonly sql?: string;
  /** Of a flag that is kept as text or number: the column itself, which answers show. */
  readonly stored?: string;
}

export interface TableFacts {
  /** As SQL writes it, quoted and with its schema where needed. */
  readonly sqlName: string;
  readonly name: string;
  readonly columns: readonly ColumnFacts[];
  /** Column names; empty: none. */
  readonly primaryKey: readonly string[];
  /** It has other columns, which the asker may not read. */
  readonly isPart?: true;
}

/** A foreign key: a row of `from` has at most one of `to`. */
export interface LinkFacts {
  readonly from: TableFacts;
  readonly columns: readonly string[];
  readonly to: TableFacts;
  readonly references: readonly string[];
}

export interface SchemaFacts {
  readonly tables: readonly TableFacts[];
  readonly links: readonly LinkFacts[];
  /** Keys by which a row refers to another one of its own table. */
  readonly selfLinks: readonly LinkFacts[];
  /** The key that is known to be meant, though no word of the question says so any more. */
  readonly meant?: LinkFacts;
}

/** The schema with other facts in place of some tables; the same where there are none. */
export function withTables(schema: SchemaFacts, others: ReadonlyMap<TableFacts, TableFacts>): SchemaFacts {
  if (others.size === 0) return schema;
  const now = (table: TableFacts) => others.get(table) ?? table;
  const moved = (links: readonly LinkFacts[]) =>
    links.map((link) => ({ ...link, from: now(link.from), to: now(link.to) }));
  return { tables: schema.tables.map(now), links: moved(schema.links), selfLinks: moved(schema.selfLinks) };
}

export interface ColumnRef {
  readonly table: TableFacts;
  readonly column: ColumnFacts;
}

/** From one table to the next by a foreign key, in its direction (one row each) or against it (many). */
export interface Step {
  readonly link: LinkFacts;
  readonly toMany: boolean;
}

export function endOf({ link, toMany }: Step): TableFacts {
  return toMany ? link.from : link.to;
}

/** A column names its row when it is one of these, in this order. */
const NAMING = ["name", "full_name", "fullname", "title", "label"];

/** The columns by which people tell rows of the table apart; the primary key when there is none. */
export function namingColumns(table: TableFacts): readonly ColumnFacts[] {
  const texts = table.columns.filter(({ kind, isKey }) => kind === "text" && !isKey);
  const first = texts.find(({ name }) => /^(f|first|given|vor)_?(name|nm)$/i.test(name));
  const last = texts.find(({ name }) => /^(l|last|family|sur|nach)_?(name|nm)$/i.test(name));
  // Who has both may also have a title, which many have.
  if (first !== undefined && last !== undefined) return [first, last];
  const exact = NAMING.map((name) => texts.find((column) => column.name.toLowerCase() === name)).find(
    (found) => found !== undefined,
  );
  if (exact !== undefined) return [exact];
  const ending = texts.find(({ name }) => /(name|title|label)$|_(nm|nam)$|(^|_)bez(eichnung)?$/i.test(name));
  if (ending !== undefined) return [ending];
  const keys = table.columns.filter(({ name }) => table.primaryKey.includes(name));
  return keys.length > 0 ? keys : table.columns.slice(0, 1);
}

/**
 * The shortest way over foreign keys, tables of `preferred` counting less than others; null: there is none. Dijkstra's,
 * over few tables.
 */
export function pathBetween(
  schema: SchemaFacts,
  from: TableFacts,
  to: TableFacts,
  preferred: ReadonlySet<TableFacts>,
): readonly Step[] | null {
  const best = new Map<TableFacts, { readonly cost: number; readonly steps: readonly Step[] }>([
    [from, { cost: 0, steps: [] }],
  ]);
  const open = [from];
  while (open.length > 0) {
    open.sort((a, b) => best.get(a)!.cost - best.get(b)!.cost);
    const table = open.shift()!;
    const here = best.get(table)!;
    if (table === to) return here.steps;
    for (const step of stepsFrom(schema, table)) {
      const next = endOf(step);
      const cost =
        here.cost +
        (preferred.has(next) ? 0.6 : 1) +
        (step.toMany ? 0.05 : 0) +
        (isSibling(schema, here, step) ? 0.5 : 0);
      const known = best.get(next);
      if (known !== undefined && known.cost <= cost) continue;
      best.set(next, { cost, steps: [...here.steps, step] });
      if (!open.includes(next)) open.push(next);
    }
  }
  return null;
}

/** From a client to its district and down to all accounts there: they share a district, and no more. */
function isSibling({ links }: SchemaFacts, { steps }: { readonly steps: readonly Step[] }, step: Step): boolean {
  const isUp = steps.length > 0 && !steps.at(-1)!.toMany;
  return isUp && step.toMany && links.filter(({ from }) => from === step.link.from).length === 1;
}

function stepsFrom({ links }: SchemaFacts, table: TableFacts): Step[] {
  const steps: Step[] = [];
  for (const link of links) {
    if (link.from === table) steps.push({ link, toMany: false });
    if (link.to === table) steps.push({ link, toMany: true });
  }
  return steps;
}
