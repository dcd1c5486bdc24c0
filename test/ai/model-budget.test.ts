/** What models use counts against budgets, also where nobody waits for the end. */
import t from "tap";
import type { FromInference, InferenceThread, ToInference } from "../../src/ai/inference-messages.js";
import type { ModelBudget } from "../../src/ai/model-budget.js";
import { Models } from "../../src/ai/models.js";
import type { ChatEvent, Provider } from "../../src/ai/providers/provider.js";
import { DbError } from "../../src/protocol/errors.js";
import { withinModelBudget } from "../../src/session/tenant-providers.js";
import { BUNDLED } from "./bundle-copies.js";

class Counted implements ModelBudget {
  spent = 0;
  readonly begun: string[] = [];
  beginModel(name: string): void {
    this.begun.push(name);
  }
  spendTokens(count: number): void {
    this.spent += count;
  }
}

const PROMPT = { messages: [{ role: "user" as const, content: "x".repeat(400) }] };

function within(budget: ModelBudget, chat: () => AsyncIterable<ChatEvent>): Provider {
  return withinModelBudget({ name: "p", model: "m", supportsTools: false, chat }, budget);
}

t.test("a call of a provider counts, whoever ends it", async (t) => {
  const told = new Counted();
  const whole = within(told, async function* () {
    yield { kind: "text", text: "y".repeat(800) };
    yield { kind: "usage", inputTokens: 7, outputTokens: 9 };
  });
  for await (const _ of whole.chat(PROMPT, new AbortController().signal));
  t.same([told.begun, told.spent], [["m"], 16], "what the provider says counts");

  const left = new Counted();
  const long = within(left, async function* () {
    for (;;) yield { kind: "text", text: "y".repeat(800) };
  });
  for await (const _ of long.chat(PROMPT, new AbortController().signal)) break;
  t.equal(left.spent, 300, "the prompt and what was handed on");

  const early = new Counted();
  const stop = new AbortController();
  const slow = within(early, async function* () {
    yield* [];
    stop.abort(new DbError("cancelled"));
    throw new DbError("cancelled");
  });
  await t.rejects(async () => {
    for await (const _ of slow.chat(PROMPT, stop.signal));
  });
  t.equal(early.spent, 100, "the prompt was sent");

  const refused = new Counted();
  const down = within(refused, async function* () {
    yield* [];
    throw new DbError("provider_unavailable");
  });
  await t.rejects(async () => {
    for await (const _ of down.chat(PROMPT, new AbortController().signal));
  });
  t.equal(refused.spent, 0, "nobody has read it");
});

t.test("a generation that breaks off counts what it has written", async (t) => {
  const budget = new Counted();
  const thread: InferenceThread = {
    post: (message: ToInference) => {
      if (message.kind !== "generate") return;
      const { id } = message;
      const answers: FromInference[] = [
        { kind: "piece", id, text: "a" },
        { kind: "piece", id, text: "b" },
        { kind: "failed", id, message: "broken", failure: "failed" },
      ];
      queueMicrotask(() => {
        for (const answer of answers) thread.onMessage(answer);
      });
    },
    onMessage: () => undefined,
    onEnd: () => undefined,
  };
  const bounds = { runThreads: 1, idleMs: 1000, sessionsMax: 4, bytesMax: 1e9, waitingMax: 16, generationsMax: 4 };
  const inference = { start: () => thread, ...bounds };
  const models = new Models({ roots: [BUNDLED], embeddingModel: "none", warn: () => undefined, inference });
  const request = { ...PROMPT, tokensMax: 9, temperature: 0, topP: 1, seed: null, stop: [] };
  const generation = models.generate("tessera-chat", request, { tenant: "acme", budget });
  await t.rejects(async () => {
    for await (const _ of generation);
  });
  t.equal(budget.spent, 102);
});
