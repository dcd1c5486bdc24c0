/** Schemas for tests of rules, in a few words. */
import type { ColumnFacts, ColumnKind, SchemaFacts, TableFacts } from "../../src/ai/nl2sql/schema-facts.js";

/** "id, shop_id>shop, name text": the first column is the key, `>` a foreign key. */
export function schemaOf(tables: Readonly<Record<string, string>>): SchemaFacts {
  const facts = new Map<string, TableFacts>();
  const links: { from: string; column: string; to: string }[] = [];
  for (const [name, text] of Object.entries(tables)) {
    const columns = text.split(", ").map((part, i): ColumnFacts => {
      const [column, type] = part.split(" ");
      const [own, to] = column!.split(">");
      if (to !== undefined) links.push({ from: name, column: own!, to });
      const kind = (type ?? "number") as ColumnKind;
      return { name: own!, kind, typeName: kind, nullable: i > 0, isKey: i === 0 || to !== undefined };
    });
    facts.set(name, { sqlName: name, name, columns, primaryKey: [columns[0]!.name] });
  }
  const all = links.map(({ from, column, to }) => ({
    from: facts.get(from)!,
    columns: [column],
    to: facts.get(to)!,
    references: facts.get(to)!.primaryKey,
  }));
  return {
    tables: [...facts.values()],
    links: all.filter(({ from, to }) => from !== to),
    selfLinks: all.filter(({ from, to }) => from === to),
  };
}
