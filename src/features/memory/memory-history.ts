/** MEMORY_HISTORY(namespace, id): a memory with all that it superseded and that superseded it, the oldest first. */
import type { ExecContext } from "../../query/exec/context.js";
import type { EvalContext } from "../../query/expr/expr.js";
import { MadeRows, type TableFunction } from "../../query/expr/table-function.js";
import { recordOf, TEXT, TIMESTAMPTZ, type Value } from "../../values/values.js";
import { findTable, namespaceOf } from "./memory-namespace.js";

const ROW = recordOf([
  { name: "id", type: TEXT },
  { name: "content", type: TEXT },
  { name: "metadata", type: TEXT },
  { name: "created_at", type: TIMESTAMPTZ },
  { name: "valid_from", type: TIMESTAMPTZ },
  { name: "valid_until", type: TIMESTAMPTZ },
  { name: "superseded_by", type: TEXT },
]);

export const MEMORY_HISTORY: TableFunction = Object.freeze({
  name: "memory_history",
  args: [TEXT, TEXT],
  returns: ROW,
  strict: true,
  open: (context: EvalContext, [namespace, id]: readonly Value[]) =>
    new MadeRows(() => historyOf(context as ExecContext, namespace as string, id as string)),
});

async function historyOf(context: ExecContext, namespace: string, id: string): Promise<readonly (readonly Value[])[]> {
  const { services } = context;
  const table = findTable(services.catalogView(), namespaceOf(namespace));
  if (table === null) return [];
  const ask = async (condition: string, value: Value) => {
    const { rows } = await services.runStatement(
      `SELECT id, content, metadata::text AS metadata, created_at, ${table.history}${table.hasHistory ? ", chain" : ""}
       FROM ${table.sqlName} WHERE ${condition}
       ORDER BY ${table.start}, ${table.hasHistory ? "valid_until NULLS LAST" : "created_at"}, id`,
      [value],
      Number.MAX_SAFE_INTEGER,
      context,
    );
    return rows;
  };
  const alone = await ask("id = $1::text", id);
  const chain = alone[0]?.[7] ?? null;
  return chain === null ? alone : ask("chain = $1::text", chain);
}
