/**
 * POST /v1/ai/memory/{namespace}/extract: what a conversation says of its user, by rules or by a language model's
 * provider, stored as memories that supersede what they contradict. All of it is one statement, so all of it is stored
 * or nothing.
 */
import type { Request } from "../../actor/request.js";
import { type Provider, wholeReply } from "../../ai/providers/provider.js";
import type { InputOf } from "../../bodies/validate.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import type { Answer } from "../../session/answer.js";
import { runAlone } from "../statements/run-alone.js";
import { type Fact, factsOfMessage } from "./facts/extract-facts.js";
import { factsByProvider, NoFactsError, type PromptMessage } from "./facts/extraction-by-provider.js";
import { namespaceOf } from "./memory-namespace.js";
import { timeOption } from "./memory-options.js";
import type { StoredMemory } from "./write-memory.js";

type Input = InputOf<"memory.extract">;
type Extraction = ResponseOf<"memory.extract">;

/** What tells where the facts come from. */
type Extracted = { readonly found: readonly Fact[] } & Omit<Extraction, "facts" | "stored">;

const STORE = `SELECT memory_store($1, fact ->> 'content', fact -> 'metadata', fact -> 'options')
  FROM jsonb_array_elements($2::jsonb) AS fact`;

export async function extractMemories(request: Request, input: Input): Promise<Answer<Extraction>> {
  const { params, body } = input;
  request.limitTime(body.timeout_secs);
  const namespace = namespaceOf(params.namespace);
  const times = body.messages.map(({ at }, i) => timeOfMessage(at, i));
  const provider = providerOf(request, body.method);
  const { found, ...about } =
    provider === null ? await byRules(request, body) : await byProvider(request, provider, body);
  request.checkpoint();
  // Facts are stored in the order in which they were said.
  const order = inOrderOf(times);
  const facts = [...found]
    .sort((a, b) => order[a.message]! - order[b.message]!)
    .map((fact) => ({ ...fact, valid_from: times[fact.message]! }));
  if (body.dry_run === true || facts.length === 0) return { plain: { facts, ...about, stored: false } };
  const rows = facts.map(({ content, message, evidence, valid_from }) => ({
    content,
    metadata: { source: "extract", extractor: about.extractor, message, evidence },
    options: { supersede: body.supersede ?? true, valid_from },
  }));
  return runAlone(request, { sql: STORE, params: [namespace, rows] }, (outcome) => {
    const stored = outcome.rows.plain!.map(([one]) => one as StoredMemory);
    return {
      plain: { facts: facts.map((fact, i) => ({ ...fact, ...stored[i]! })), ...about, stored: true } as Extraction,
    };
  });
}

/** Throws `invalid_request`. */
function timeOfMessage(at: string | undefined, i: number): string | null {
  const field = `messages[${i}].at`;
  let time: string | null;
  try {
    time = timeOption(at, "at");
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    throw new DbError("invalid_request", `${field} must be a date or a time such as "2026-11-20T10:00:00Z".`, {
      field,
    });
  }
  if (time === null || Date.parse(time) <= Date.now()) return time;
  throw new DbError("invalid_request", `${field} is ${time}, which is still to come.`, { field });
}

/** The rank of each message: by its time, and those without one by their place. */
function inOrderOf(times: readonly (string | null)[]): number[] {
  const places = times.map((_, i) => i);
  if (times.every((time) => time !== null)) {
    places.sort((a, b) => Date.parse(times[a]!) - Date.parse(times[b]!) || a - b);
  }
  const ranks = new Array<number>(times.length);
  for (const [rank, place] of places.entries()) ranks[place] = rank;
  return ranks;
}

/** Null: rules do it. Throws `invalid_request` for a provider that is not there. */
function providerOf(request: Request, method: Input["body"]["method"] = "auto"): Provider | null {
  if (method === "rules") return null;
  const configured = request.partition.providers.forTenant(request.tenant, request.budget);
  if (configured !== null || method === "auto") return configured;
  throw new DbError("invalid_request", "No AI provider is configured.", {
    field: "method",
    hint: 'Configure [query.ai_service], or send the method "rules".',
  });
}

async function byRules(request: Request, { messages }: Input["body"]): Promise<Extracted> {
  const found: Fact[] = [];
  for (const [i, { role, content }] of messages.entries()) {
    if (role !== "user") continue;
    for (const facts of factsOfMessage(content, i)) {
      found.push(...facts);
      if (request.shouldYield()) await request.yieldTurn();
    }
    request.checkpoint();
  }
  return { found, extractor: "rules" };
}

async function byProvider(request: Request, provider: Provider, { messages }: Input["body"]): Promise<Extracted> {
  let [input, output] = [0, 0];
  const ask = async (asked: readonly PromptMessage[]): Promise<string> => {
    const chat = provider.chat({ messages: asked, temperature: 0, format: "json" }, request.signal());
    const { text, inputTokens, outputTokens } = await wholeReply(chat);
    input += inputTokens;
    output += outputTokens;
    request.checkpoint();
    return text;
  };
  const asked = { extractor: "provider", provider: provider.name, model: provider.model } as const;
  try {
    const { facts, warnings } = await factsByProvider(messages, ask);
    const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output };
    return { found: facts, ...asked, usage, ...(warnings.length > 0 && { warnings: [...warnings] }) };
  } catch (error) {
    if (!(error instanceof NoFactsError)) throw error;
    throw new DbError("provider_error", `The provider ${provider.name} did not answer with facts: ${error.message}.`, {
      provider: provider.name,
      model: provider.model,
      hint: 'Try another model. The method "rules" needs none.',
    });
  }
}
