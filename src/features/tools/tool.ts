/**
 * A tool: something that a model may do with its tenant's data. One table (toolbox.ts) serves MCP clients
 * (src/features/mcp) and agents. A tool calls the same functions as the route of the same purpose, never its handler.
 */
import type { TObject } from "typebox";
import type { Request } from "../../actor/request.js";
import type { Door } from "../../protocol/endpoint.js";
import type { Answer } from "../../session/answer.js";

/** MCP's hints about a tool; nothing relies on them but a client's own caution. */
export interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  /** It reaches beyond the tenant's data. */
  readonly openWorldHint: boolean;
}

/** On whose behalf, and with what rights, a tool is called. */
export interface ToolContext {
  /** Its tenant, credential, deadline and cancellation hold. */
  readonly request: Request;
  /** Nothing may be written, whatever the credential allows. */
  readonly readOnly: boolean;
  /** Tells how far it is; `total` null: not known. */
  progress(done: number, total: number | null, message: string): void;
}

/** JSON text of an object. */
export type ToolResult = string;

export interface Tool {
  readonly name: string;
  /** As an endpoint's. `statements`: the caller sees and changes what statements let it. */
  readonly door: Door;
  readonly title: string;
  readonly description: string;
  /** JSON Schema of the arguments, which were checked against it when `call` gets them. */
  readonly input: TObject;
  readonly hints: ToolHints;
  /** A ReadOnly credential may call it; what would write is refused then. */
  readonly forReaders: boolean;
  /** Throws DbError for what the caller did wrong. */
  // Checked against `input`, from which each tool takes its static type.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  call(context: ToolContext, args: any): ToolResult | Promise<ToolResult>;
}

/** It looks and changes nothing. */
export const READS = {
  hints: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  forReaders: true,
} as const satisfies Partial<Tool>;

/** What a handler answered, as a tool's result; anything but an object stands under that name. */
export function resultOf({ json, plain }: Answer, name: string): ToolResult {
  const text = json ?? JSON.stringify(plain ?? null);
  return text.startsWith("{") ? text : `{${JSON.stringify(name)}:${text}}`;
}
