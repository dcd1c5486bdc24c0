/** REINDEX: which tables, and which of their indexes, it names. Called by bind-statement.ts. */
import type { ReindexTarget } from "../../catalog/ddl-command.js";
import { isGraphSchema } from "../../catalog/graph.js";
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import type { ReindexStatement } from "../parse/ast.js";
import type { NameNode } from "../parse/ast-query.js";
import { lookUpTable } from "./bind-from.js";
import { descendantsOf } from "./bind-scan.js";
import type { Binding } from "./binding.js";
import type { BoundStatement } from "./bound-statement.js";
import { existingSchema, firstFound, missingRelation } from "./names.js";
import { checkedRights } from "./relation-rights.js";
import { relationOf } from "./scope.js";
import { indexesOf } from "./system/relation-facts.js";

export function bindReindex(node: ReindexStatement, binding: Binding): BoundStatement {
  const { target, concurrently, position } = node;
  const alone = concurrently ? "REINDEX CONCURRENTLY" : `REINDEX ${target.toUpperCase()}`;
  const isAlone = concurrently || target === "schema" || target === "database" || target === "system";
  if (target === "system" && concurrently) {
    throw sqlError("0A000", "cannot reindex system catalogs concurrently", { position });
  }
  const tables = targetsOf(node, binding);
  const database = target === "database" || target === "system" ? (node.name?.path[0] ?? null) : null;
  const step = () => ({ kind: "ddl", command: { kind: "reindex", tables, database } }) as const;
  return { kind: "ddl steps", tag: "REINDEX", ...(isAlone && { alone }), steps: [step], notices: [] };
}

/** Throws 42P01, 42809, 3F000, 42501. */
function targetsOf({ target, name, position }: ReindexStatement, binding: Binding): readonly ReindexTarget[] {
  const { env } = binding;
  switch (target) {
    case "index":
      return partsOf(name!, binding);
    case "table": {
      const table = lookUpTable(name!, binding);
      return stored(table, binding).map((each) => all(each, position));
    }
    case "schema": {
      const schema = existingSchema(name!.path[0]!, env, position);
      return ownTables(binding, position).filter((table) => table.schema === schema);
    }
    case "database":
      return ownTables(binding, position);
    case "system":
      // The catalog's relations are computed, and have no indexes.
      return [];
  }
}

const all = ({ schema, name }: TableDef, position: number): ReindexTarget => ({ schema, name, position, index: null });

/** The tables that hold the rows of a partitioned table; any other table itself. */
const stored = (table: TableDef, { env }: Binding): readonly TableDef[] =>
  table.partitionKey === undefined
    ? [table]
    : descendantsOf(table, env).filter((each) => each.partitionKey === undefined);

/** Those that the caller may change; the tables of graphs are changed by Cypher alone. */
function ownTables({ env }: Binding, position: number): ReindexTarget[] {
  const rights = checkedRights(env);
  return env.catalog
    .tables()
    .filter((table) => table.partitionKey === undefined && !isGraphSchema(table.schema))
    .filter(({ id }) => rights === null || rights.mayAlter(id))
    .map((table) => all(table, position));
}

/** The index of that name; of a partitioned table those of its partitions. Rows are stored by a primary key itself. */
function partsOf(node: NameNode, binding: Binding): ReindexTarget[] {
  const { env } = binding;
  const { catalog } = env;
  const { position } = node;
  const relation = relationOf(node);
  const found = firstFound(
    relation,
    env,
    (schema, name) =>
      catalog
        .tables()
        .find((table) => table.schema === schema && indexesOf(table).some((index) => index.name === name)) ?? null,
  );
  if (found === null) {
    if (firstFound(relation, env, (schema, name) => catalog.table(schema, name)) === null) {
      throw missingRelation(node, env);
    }
    throw sqlError("42809", `"${relation.name}" is not an index`, { position });
  }
  const { schema, name: table } = found;
  const index = found.indexes.find(({ name }) => name === relation.name);
  if (found.partitionKey === undefined) return [{ schema, name: table, position, index: relation.name }];
  if (index === undefined) return [];
  return stored(found, binding).flatMap((part) => {
    const own = part.indexes.find(
      ({ parentId }) => parentId !== undefined && isBelow(part, parentId, index.id, binding),
    );
    return own === undefined ? [] : [{ schema: part.schema, name: part.name, position, index: own.name }];
  });
}

/** Whether the index is that one, or a part of it, at any depth. */
function isBelow(part: TableDef, id: number, above: number, binding: Binding): boolean {
  if (id === above) return true;
  const parent = binding.env.catalog.tableById(part.parents?.[0] ?? -1);
  const next = parent?.indexes.find((index) => index.id === id)?.parentId;
  return parent !== null && parent !== undefined && next !== undefined && isBelow(parent, next, above, binding);
}
