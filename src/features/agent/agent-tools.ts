/**
 * What an agent may do, as the statement that runs it knows it: implemented by request-tools.ts, which the thread's actor
 * registers, since tools run statements and a statement may run an agent.
 */
import type { ToolSpec } from "../../ai/providers/provider.js";

export interface AgentTools {
  /** The caller's credential may not write. */
  readonly readOnly: boolean;
  /** Those that the agent may call. */
  specs(allowWrites: boolean): readonly ToolSpec[];
  /** Runs one with the caller's rights, less those to write unless they are allowed. Throws DbError. */
  call(name: string, args: unknown, bounds: ToolBounds): Promise<string>;
  /** Keeps the trace of a run, in a transaction of its own. */
  keep(run: AgentTrace): Promise<void>;
}

type Make = (client: object) => AgentTools;

let make: Make | null = null;

/** Once, when the process starts: how tools are made for a Request. */
export function provideAgentTools(factory: Make): void {
  make = factory;
}

/** Null: no tools were registered. */
export function agentToolsFor(client: object): AgentTools | null {
  return make === null ? null : make(client);
}

export interface ToolBounds {
  readonly allowWrites: boolean;
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly deadlineMs: number;
}

export interface AgentStep {
  readonly step: number;
  /** What the model said beside its calls. */
  readonly text: string;
  readonly calls: readonly {
    readonly tool: string;
    readonly arguments: unknown;
    readonly result?: string;
    readonly error?: string;
    readonly ms: number;
  }[];
}

export interface AgentTrace {
  readonly id: string;
  readonly persona: string;
  readonly task: string;
  readonly status: "done" | "failed";
  readonly answer: string | null;
  readonly error: string | null;
  readonly provider: string;
  readonly model: string;
  readonly steps: readonly AgentStep[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly startedAt: string;
  readonly finishedAt: string;
}
