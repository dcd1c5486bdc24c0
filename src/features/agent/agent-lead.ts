/**
 * The lead of an agent: what its tools may do less than whoever starts it. Of the same kind as that of an API key
 * (protocol/lead.ts); a run by such a key may do what both allow.
 */
import Type from "typebox";
import { type AgentsDay, hasDay } from "../../actor/key-budgets.js";
import { Strict } from "../../protocol/endpoints/schemas.js";
import { sqlError } from "../../protocol/errors.js";
import { STATEMENT_KINDS } from "../../protocol/lead.js";

const perDay = (description: string) => Type.Optional(Type.Integer({ minimum: 1, maximum: 1e12, description }));

export const AGENT_LEAD = Strict({
  tables: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      maxItems: 1000,
      description: 'Tables and views that its statements may name: "orders", or "sales.orders" of another schema.',
    }),
  ),
  statements: Type.Optional(
    Type.Array(Type.Enum([...STATEMENT_KINDS]), { minItems: 1, description: '["read"], ["read", "write"] or all.' }),
  ),
  tokens: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1e9, description: "Tokens that the model may read and write in one run." }),
  ),
  tokens_per_day: perDay("Tokens that models may read and write in all its runs of a day of UTC."),
  statements_per_day: perDay("Calls of its tools in a day of UTC. Each runs a statement."),
  rows_per_day: perDay("Rows that its tools may get in a day of UTC."),
});
export type AgentLead = Type.Static<typeof AGENT_LEAD>;

/** What all runs of the agent of that name share in a day. Throws 22023 where there is such a bound and no name. */
export function dayOf(lead: AgentLead | undefined, name: string | null): AgentsDay | null {
  if (lead === undefined || !hasDay(lead)) return null;
  if (name !== null) return lead;
  throw sqlError("22023", "a budget for a day is that of a named agent", {
    hint: "Make one with CREATE AGENT and run it with EXECUTE AGENT. AGENT_RUN takes lead.tokens, for one run.",
  });
}

/** Each kind of statement needs those before it. Throws 22023. */
export function leadOfRun(lead: AgentLead | undefined): AgentLead | null {
  if (lead === undefined) return null;
  const { statements, tables } = lead;
  const kinds = STATEMENT_KINDS.filter((kind) => statements?.includes(kind) !== false);
  if (kinds.some((kind, i) => kind !== STATEMENT_KINDS[i])) {
    throw sqlError("22023", 'the statements of an agent\'s lead are ["read"], ["read", "write"] or all three');
  }
  // Who may name some tables only changes no definitions.
  return { ...lead, statements: tables === undefined ? kinds : kinds.filter((kind) => kind !== "definition") };
}
