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

/** As MEMORY_STORE answers with options. */
interface StoredFields {
  readonly id: string;
  readonly superseded: readonly string[];
  readonly duplicate_of: string | null;
}

const memoryStore: Tool = {
  name: "memory_store",
  door: "statements",
  title: "Store a memory",
  description: "Stores a text so that it can be recalled by meaning. The first memory creates the namespace.",
  input: Strict({
    namespace,
    content,
    metadata,
    valid_from: Type.Optional(Type.String({ description: "Since when it holds: a date or a time. Default: now." })),
    supersede: Type.Optional(
      Type.Boolean({
        description:
          "Supersede memories that it contradicts, and store nothing that is known already. Default: false. `superseded` and `duplicate_of` tell what was found.",
      }),
    ),
    dry_run: dryRunArgument,
  }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  forReaders: false,
  call: async (context, { namespace: of, content: text, metadata: about = null, dry_run: dryRun, ...options }) => {
    const sql = "SELECT memory_store($1, $2, $3::jsonb, $4::jsonb)";
    const { rows } = JSON.parse(await runStatement(context, { sql, params: [of, text, about, options], dryRun })) as {
      rows: [[StoredFields]];
    };
    const { id, ...found } = rows[0][0];
    return JSON.stringify({ ...(dryRun === true && { dry_run: true }), id, ...(options.supersede === true && found) });
  },
};

const memoryRecall: Tool = {
  name: "memory_recall",
  door: "statements",
  title: "Recall memories",
  description:
    "Returns the memories of a namespace that hold and are most similar to a query, best first. An unknown namespace has none.",
  input: Strict({
    namespace,
    query: content,
    k: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MEMORY_RECALL_MAX, description: `How many. Default: ${K_DEFAULT}.` }),
    ),
    as_of: Type.Optional(Type.String({ description: "What held at that time: a date or a time. Default: now." })),
    include_superseded: Type.Optional(Type.Boolean({ description: "Also what no longer holds." })),
  }),
  ...READS,
  call: async (context, { namespace: of, query, k = K_DEFAULT, ...options }) => {
    const sql = `SELECT id, content, similarity, metadata, created_at, valid_from, valid_until, superseded_by
      FROM memory_recall($1, $2, $3, $4)`;
    const params = [of, query, k, JSON.stringify(options)];
    const answer = await runStatement({ ...context, readOnly: true }, { sql, params });
    const { rows } = JSON.parse(answer) as { rows: unknown[][] };
    const memories = rows.map(([id, text, similarity, about, at, from, until, by]) => ({
      id,
      content: text,
      similarity,
      ...(about !== null && { metadata: JSON.parse(about as string) as object }),
      created_at: at,
      valid_from: from,
      ...(until !== null && { valid_until: until, superseded_by: by }),
    }));
    return JSON.stringify({ memories });
  },
};

const memoryForget: Tool = {
  name: "memory_forget",
  door: "statements",
  title: "Forget a memory",
  description: "Removes one memory by its id, with its history. `forgotten` is false if it did not exist.",
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
