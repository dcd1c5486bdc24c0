/**
 * What one run of an agent may use: what its caller may, so many tokens in one run, and what is left of the agent's
 * day. The model and the tools share it.
 */
import { type KeyBudget, RequestBudget } from "../../actor/key-budgets.js";
import { callerOf } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";
import { Capability } from "../../query/expr/capability.js";
import type { AskingStatement } from "../../session/capabilities.js";
import { type AgentLead, dayOf } from "./agent-lead.js";

type UsedToday = Readonly<Record<"tokens" | "statements" | "rows", number>>;

/** What an agent has used of its day; null: nothing is counted. */
export type AgentDays = (name: string, lead: AgentLead | undefined) => UsedToday | null;

export const AGENT_DAYS = new Capability<AgentDays>("The days of agents are not known here.");

export function statementDays({ client }: AskingStatement): AgentDays | null {
  const request = callerOf(client);
  if (request === null) return null;
  return (name, lead) => {
    if (dayOf(lead, name) === null) return null;
    // The bounds of runs under way stay: what is listed may be a branch's agent, or one that is not committed.
    const { tokens, statements, rows } = request.partition.keyBudgets.usedByAgent(request.account, name);
    return { tokens, statements, rows };
  };
}

export class RunBudget extends RequestBudget {
  private tokensUsed = 0;

  constructor(
    private readonly caller: RequestBudget | null,
    /** Tokens of this run. */
    private readonly tokensMax: number | undefined,
    day: KeyBudget | null,
  ) {
    super(day === null ? [] : [day]);
  }

  /** Throws budget_exhausted where a run could do nothing. */
  requireRun(): void {
    this.require("tokens", 1);
    this.require("statements", 1);
    this.require("rows", 1);
  }

  override requireLeft(): void {
    this.caller?.requireLeft();
    super.requireLeft();
  }

  override takeRows(count: number): void {
    this.require("rows", count);
    this.caller?.takeRows(count);
    super.takeRows(count);
  }

  override owe(bytes: number): void {
    this.caller?.owe(bytes);
  }

  override takeBytes(count: number): void {
    this.caller?.takeBytes(count);
  }

  override takeBytesAnyway(count: number): void {
    this.caller?.takeBytesAnyway(count);
  }

  override beginModel(name: string): void {
    this.caller?.beginModel(name);
    super.beginModel(name);
    const { tokensMax } = this;
    if (tokensMax === undefined || this.tokensUsed < tokensMax) return;
    throw new DbError("budget_exhausted", `Models have used the ${tokensMax} tokens of the agent's lead.`, {
      hint: 'Raise "lead.tokens" of the agent.',
    });
  }

  override spendTokens(count: number): void {
    this.caller?.spendTokens(count);
    super.spendTokens(count);
    this.tokensUsed += count;
  }
}
