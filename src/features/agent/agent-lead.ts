/**
 * The lead of an agent: what its tools may do less than whoever starts it. Of the same kind as that of an API key
 * (protocol/lead.ts); a run by such a key may do what both allow.
 */
import Type from "typebox";
import { Strict } from "../../protocol/endpoints/schemas.js";
import { sqlError } from "../../protocol/errors.js";
import { STATEMENT_KINDS } from "../../protocol/lead.js";

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
});
export type AgentLead = Type.Static<typeof AGENT_LEAD>;

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
