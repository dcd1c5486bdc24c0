/** Tools that keep and find memories: the SQL functions of memories, as tools. */
import Type from "typebox";
import { Strict } from "../../protocol/endpoints/schemas.js";
import { MEMORY_CHARACTERS_MAX, MEMORY_ID_CHARACTERS_MAX, MEMORY_RECALL_MAX } from "../../protocol/limits.js";
import { dryRunArgument, runStatement } from "./run-statement.js";
import { READS, type Tool, type ToolContext, type ToolResult } from "./tool.js";

const K_DEFAULT = 5;

const namespace = Type.String({
  minLength: 1,
  description: "The owner of the memories, such as a user or a project.",
});
const content = Type.String({ minLength: 1, maxLength: MEMORY_CHARACTERS_MAX });
const metadata = Type.Optional(Type.Record(Type.String(), Type.Unknown()));

/** The one value of the statement's one row, under that name. */
async function oneValue(
  context: ToolContext,
  name: string,
  sql: string,
  params: readonly unknown[],
  dryRun?: boolean,
): Promise<ToolResult> {
  const { rows } = JSON.parse(await runStatement(context, { sql, params, dryRun })) as { rows: unknown[][] };
  return JSON.stringify({ ...(dryRun === true && { dry_run: true }), [name]: rows[0]![0] });
}

const memoryStore: Tool = {
  name: "memory_store",
  door: "whole",
  title: "Store a memory",
  description: "Stores a text so that it can be recalled by meaning. The first memory creates the namespace.",
  input: Strict({ namespace, content, metadata, dry_run: dryRunArgument }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  forReaders: false,
  call: (context, { namespace: of, content: text, metadata: about = null, dry_run: dryRun }) =>
    oneValue(context, "id", "SELECT memory_store($1, $2, $3::jsonb)", [of, text, about], dryRun),
};

const memoryRecall: Tool = {
  name: "memory_recall",
  door: "whole",
  title: "Recall memories",
  description:
    "Returns the memories of a namespace that are most similar to a query, best first. An unknown namespace has none.",
  input: Strict({
    namespace,
    query: content,
    k: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MEMORY_RECALL_MAX, description: `How many. Default: ${K_DEFAULT}.` }),
    ),
  }),
  ...READS,
  call: async (context, { namespace: of, query, k = K_DEFAULT }) => {
    const sql = "SELECT id, content, similarity, metadata, created_at FROM memory_recall($1, $2, $3)";
    const answer = await runStatement({ ...context, readOnly: true }, { sql, params: [of, query, k] });
    const { rows } = JSON.parse(answer) as { rows: unknown[][] };
    const memories = rows.map(([id, text, similarity, about, at]) => ({
      id,
      content: text,
      similarity,
      ...(about !== null && { metadata: JSON.parse(about as string) as object }),
      created_at: at,
    }));
    return JSON.stringify({ memories });
  },
};

const memoryForget: Tool = {
  name: "memory_forget",
  door: "whole",
  title: "Forget a memory",
  description: "Removes one memory by its id. `forgotten` is false if it did not exist.",
  input: Strict({
    namespace,
    id: Type.String({ minLength: 1, maxLength: MEMORY_ID_CHARACTERS_MAX }),
    dry_run: dryRunArgument,
  }),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  forReaders: false,
  call: (context, { namespace: of, id, dry_run: dryRun }) =>
    oneValue(context, "forgotten", "SELECT memory_forget($1, $2)", [of, id], dryRun),
};

export const MEMORY_TOOLS: readonly Tool[] = [memoryStore, memoryRecall, memoryForget];
