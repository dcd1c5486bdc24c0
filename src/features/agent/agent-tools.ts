/** What an agent may do, as its run knows it. Implemented by request-tools.ts. */

import type { ToolSpec } from "../../ai/providers/provider.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import type { AgentLead } from "./agent-lead.js";

export interface AgentTools {
  /** The caller's credential may not write. */
  readonly readOnly: boolean;
  /** Throws budget_exhausted where nothing is left of what its runs may use. */
  requireBudget(): void;
  /** Those that the agent may call. */
  specs(allowWrites: boolean): readonly ToolSpec[];
  /** Runs one with the caller's rights, less those to write unless they are allowed. Throws DbError. */
  call(name: string, args: unknown, bounds: ToolBounds): Promise<string>;
  /** A branch of that name for the run to work in. Throws forbidden for who may not make one. */
  fork(name: string): Promise<AgentSandbox>;
  /** Keeps the trace of a run, in a transaction of its own. */
  keep(run: AgentTrace): Promise<void>;
}

/** A branch of the tenant in which an agent's tools work. */
export interface AgentSandbox extends Pick<AgentTools, "call"> {
  /** What the agent has changed. Without changes the branch is deleted and its name null. */
  outcome(): Promise<SandboxOutcome>;
  /** Deletes the branch, if it is still there. */
  discard(): Promise<void>;
}

/** The difference as GET /v1/branches/{name}/diff answers it. */
export interface SandboxOutcome extends ResponseOf<"branches.diff"> {
  readonly branch: string | null;
}

export interface ToolBounds {
  readonly allowWrites: boolean;
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly deadlineMs: number;
  /** What the agent may do less than its caller; null: nothing. */
  readonly lead: AgentLead | null;
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
