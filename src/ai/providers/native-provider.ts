/**
 * The bundled model, or another bundle that generates text, as a provider: run by the actor's inference thread. It
 * cannot call tools. Made by the actor's TenantProviders; holds no state.
 */
import type { GenerationRequest } from "../inference-messages.js";
import type { Manifest } from "../manifest.js";
import type { ModelUser } from "../model-budget.js";
import type { Models } from "../models.js";
import type { ChatEvent, ChatRequest, Provider } from "./provider.js";

/** Of an answer where neither its request nor the bundle says it. */
const TOKENS_DEFAULT = 256;
const TEMPERATURE_DEFAULT = 0.7;
const TOP_P_DEFAULT = 0.95;

export class NativeProvider implements Provider {
  readonly name = "native";
  readonly supportsTools = false;

  constructor(
    private readonly models: Models,
    /** Id or alias of the bundle. */
    readonly model: string,
    /** For whom tokens are counted. */
    private readonly user: ModelUser,
  ) {}

  async *chat(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent, void> {
    signal.throwIfAborted();
    const model = request.model ?? this.model;
    const { generation: facts } = this.models.describeKind(model, "generation");
    const generation = this.models.generate(model, generationOf(request, facts?.defaults), this.user, signal);
    for await (const text of generation) yield { kind: "text", text };
    const { reason, inputTokens, outputTokens } = await generation.ended;
    if (reason === "cancelled") signal.throwIfAborted();
    yield { kind: "usage", inputTokens, outputTokens };
    yield { kind: "done", reason: reason === "length" ? "length" : "stop" };
  }
}

/** Defaults for what neither specifies. */
function generationOf(
  { messages, temperature, topP, maxTokens, stop, seed }: ChatRequest,
  defaults: NonNullable<Manifest["generation"]>["defaults"] = {},
): GenerationRequest {
  return {
    messages: messages.map(({ role, content }) => ({ role, content })),
    tokensMax: maxTokens ?? defaults.max_tokens ?? TOKENS_DEFAULT,
    temperature: temperature ?? defaults.temperature ?? TEMPERATURE_DEFAULT,
    topP: topP ?? defaults.top_p ?? TOP_P_DEFAULT,
    seed: seed ?? null,
    stop: stop ?? [],
  };
}
