/**
 * Generates texts for prompts; shared by GENERATE and the tools that generate. A few prompts run at a time; the
 * provider or the inference thread behind has bounds of its own. Holds no state.
 */
import Type from "typebox";
import { budgetOfUser, type ModelUser } from "../../ai/model-budget.js";
import { type ChatMessage, type Provider, wholeReply } from "../../ai/providers/provider.js";
import { Strict } from "../../protocol/endpoints/schemas.js";
import { DbError } from "../../protocol/errors.js";
import { CHAT_CHARACTERS_MAX } from "../../protocol/limits.js";
import type { Generation } from "../../query/expr/functions/generation.js";
import { readCallOptions } from "../../session/call-options.js";
import type { AskingStatement } from "../../session/capabilities.js";
import type { Tenant } from "../../session/tenant.js";
import type { Json } from "../../values/values.js";

export const GENERATE_OPTIONS = Strict({
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  system: Type.Optional(Type.String({ maxLength: CHAT_CHARACTERS_MAX })),
  max_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
  stop: Type.Optional(
    Type.Union([
      Type.String({ minLength: 1, maxLength: 200 }),
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 4 }),
    ]),
  ),
  seed: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  format: Type.Optional(Type.Literal("json")),
});

export type GenerateOptions = Type.Static<typeof GENERATE_OPTIONS>;

export interface GenerateCall {
  readonly prompt: string;
  readonly options: Json | null;
}

/** Prompts of one statement that are under way at a time. */
const AT_ONCE = 8;

export function statementGeneration({ tenant, tenantName, client }: AskingStatement): Generation {
  const user = { tenant: tenantName, budget: (client.origin ?? client).budget ?? null };
  return {
    texts: (calls, { signal }) => generateTexts(tenant, user, calls, signal),
    check: (options) => {
      const { model } = readCallOptions("GENERATE", GENERATE_OPTIONS, options);
      if (model !== undefined) writerOf(tenant, user, model);
    },
  };
}

/** One text per call, in their order. The first failure ends all. */
export async function generateTexts(
  tenant: Tenant,
  user: ModelUser,
  calls: readonly GenerateCall[],
  signal: AbortSignal,
): Promise<string[]> {
  const prepared = calls.map(({ prompt, options }) => ({
    prompt: checkedPrompt(prompt),
    options: readCallOptions("GENERATE", GENERATE_OPTIONS, options),
  }));
  const texts = new Array<string>(calls.length);
  const stop = new AbortController();
  const all = AbortSignal.any([signal, stop.signal]);
  let next = 0;
  const work = async () => {
    while (next < prepared.length) {
      const at = next++;
      const { prompt, options } = prepared[at]!;
      texts[at] = await generateText(tenant, user, prompt, options, all);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, prepared.length) }, work));
    return texts;
  } finally {
    stop.abort(new DbError("cancelled"));
  }
}

export async function generateText(
  tenant: Tenant,
  user: ModelUser,
  prompt: string,
  options: GenerateOptions,
  signal: AbortSignal,
): Promise<string> {
  const { provider, model } = writerOf(tenant, user, options.model ?? null);
  const { system, max_tokens: maxTokens, temperature, top_p: topP, stop, seed, format } = options;
  const messages: ChatMessage[] = [{ role: "user", content: prompt }];
  if (system !== undefined) messages.unshift({ role: "system", content: system });
  const request = {
    ...(model !== null && { model }),
    messages,
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(stop !== undefined && { stop: typeof stop === "string" ? [stop] : stop }),
    ...(seed !== undefined && { seed }),
    ...(format !== undefined && { format }),
  };
  return (await wholeReply(provider.chat(request, signal))).text;
}

/**
 * Chooses who writes: the bundled model for "native", else the configured provider, else the bundle of that name.
 * `model`: the name to ask for. Throws model_not_found.
 */
export function writerOf(
  tenant: Tenant,
  user: ModelUser,
  name: string | null,
): { readonly provider: Provider; readonly model: string | null } {
  const { providers, models } = tenant.partition;
  if (name === "native") return { provider: providers.native(user), model: null };
  const configured = providers.forTenant(tenant, budgetOfUser(user));
  if (configured !== null) return { provider: configured, model: name };
  if (name === null) return { provider: providers.native(user), model: null };
  models.describeKind(name, "generation");
  return { provider: providers.native(user, name), model: null };
}

function checkedPrompt(prompt: string): string {
  if (prompt.length <= CHAT_CHARACTERS_MAX) return prompt;
  const message = `GENERATE: the prompt has ${prompt.length} characters; ${CHAT_CHARACTERS_MAX} are allowed`;
  throw new DbError("query_error", message, { sqlstate: "22023" });
}
