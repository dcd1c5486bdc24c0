/** Providers over the network, against servers on loopback that speak each wire format, well and badly. */
import { test } from "tap";
import { type ChatEvent, type ChatRequest, type Provider, wholeReply } from "../../src/ai/providers/provider.js";
import { Providers } from "../../src/ai/providers/providers.js";
import type { RemoteLimits } from "../../src/ai/providers/remote-provider.js";
import { type OwnProvider, seal, sealingKey, unseal } from "../../src/ai/providers/sealed-settings.js";
import { isPrivateAddress } from "../../src/net/public-address.js";
import { DbError } from "../../src/protocol/errors.js";
import type { ProviderKind } from "../../src/protocol/provider-kinds.js";
import { anthropicPieces, FakeProvider, type Format, ollamaPieces, openaiPieces } from "./fake-provider.js";

const LIMITS: RemoteLimits = {
  connectTimeoutMs: 2_000,
  firstTokenTimeoutMs: 5_000,
  timeoutMs: 20_000,
  retriesMax: 2,
  requestsMax: 4,
  waitingMax: 8,
  tokensMax: 100,
  privateAddresses: false,
};

const KEY = "sk-very-secret-0123456789";

const FORMATS: Readonly<Record<ProviderKind, { pieces: Format; path: string; base: string; json: boolean }>> = {
  openai: { pieces: openaiPieces, path: "/v1/chat/completions", base: "/v1", json: true },
  anthropic: { pieces: anthropicPieces, path: "/v1/messages", base: "", json: true },
  ollama: { pieces: ollamaPieces, path: "/api/chat", base: "", json: false },
};

/** How each format has a text with a picture. */
const PICTURES: Readonly<Record<ProviderKind, object>> = {
  openai: {
    content: [
      { type: "text", text: "what is this?" },
      { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw==" } },
    ],
  },
  anthropic: {
    content: [
      { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw==" } },
      { type: "text", text: "what is this?" },
    ],
  },
  ollama: { content: "what is this?", images: ["iVBORw=="] },
};

const KINDS = Object.keys(FORMATS) as ProviderKind[];
const HELLO: ChatRequest = { messages: [{ role: "user", content: "hello" }] };
const never = () => new AbortController().signal;

function providerAt(fake: FakeProvider, kind: ProviderKind, limits: Partial<RemoteLimits> = {}): Provider {
  const baseUrl = fake.url + FORMATS[kind].base;
  return new Providers({ ...LIMITS, ...limits }).of({ kind, baseUrl, model: "m-1", apiKey: KEY, isTenants: false });
}

async function failure(events: AsyncIterable<ChatEvent>): Promise<DbError> {
  try {
    await wholeReply(events);
  } catch (error) {
    if (error instanceof DbError) return error;
    throw error;
  }
  throw new Error("it did not fail");
}

for (const kind of KINDS) {
  const { pieces, path, json } = FORMATS[kind];

  test(`${kind}: a stream, its usage, and what was asked`, async (t) => {
    const fake = await FakeProvider.start(() => ({ pieces: pieces(["Grüß", " Gott ", "🌍"]) }));
    t.teardown(() => fake.close());
    const provider = providerAt(fake, kind);
    const events: ChatEvent[] = [];
    const request: ChatRequest = {
      messages: [{ role: "system", content: "be brief" }, ...HELLO.messages],
      temperature: 0.5,
      maxTokens: 33,
      stop: ["END"],
    };
    for await (const event of provider.chat(request, never())) events.push(event);
    const texts = events.flatMap((event) => (event.kind === "text" ? [event.text] : []));
    t.same(texts, ["Grüß", " Gott ", "🌍"]);
    t.same(
      events.find((event) => event.kind === "usage"),
      { kind: "usage", inputTokens: 11, outputTokens: 7 },
    );
    t.same(events.at(-1), { kind: "done", reason: "stop" });
    const [{ path: asked, headers, body }] = fake.asked as [(typeof fake.asked)[0]];
    t.equal(asked, path);
    t.equal(headers.authorization, `Bearer ${KEY}`);
    t.equal(body.model, "m-1");
    t.equal(body.max_tokens ?? body.options.num_predict, 33);
    t.match(JSON.stringify(body), /be brief/);
    t.match(JSON.stringify(body), /END/);
  });

  test(`${kind}: calls of tools, in pieces, and their answers`, async (t) => {
    const fake = await FakeProvider.start(() => ({
      pieces: pieces([
        "Let me see.",
        { call: "query", id: "a", json: ['{"sq', 'l":"SELECT', ' 1"}'] },
        { call: "list", json: [] },
      ]),
    }));
    t.teardown(() => fake.close());
    const provider = providerAt(fake, kind);
    const tools = [{ name: "query", description: "runs SQL", parameters: { type: "object", properties: {} } }];
    const first = await wholeReply(provider.chat({ ...HELLO, tools }, never()));
    t.equal(first.text, "Let me see.");
    t.equal(first.reason, "tool_calls");
    t.same(
      first.toolCalls.map(({ name, arguments: args }) => [name, args]),
      [
        ["query", { sql: "SELECT 1" }],
        ["list", {}],
      ],
    );
    fake.script = () => ({ pieces: pieces(["done"]) });
    const messages = [
      ...HELLO.messages,
      { role: "assistant" as const, content: first.text, toolCalls: first.toolCalls },
      { role: "tool" as const, content: "[[1]]", toolCallId: first.toolCalls[0]!.id },
      { role: "tool" as const, content: "[]", toolCallId: first.toolCalls[1]!.id },
    ];
    t.equal((await wholeReply(provider.chat({ messages, tools }, never()))).text, "done");
    const sent = JSON.stringify(fake.asked[1]!.body);
    t.match(sent, /SELECT 1/);
    t.match(sent, /\[\[1\]\]/);
    t.match(sent, /runs SQL/);
    if (kind === "anthropic") t.equal(fake.asked[1]!.body.messages.length, 3);
  });

  test(`${kind}: a picture beside a message`, async (t) => {
    const fake = await FakeProvider.start(() => ({ pieces: pieces(["a cat"]) }));
    t.teardown(() => fake.close());
    const messages = [
      {
        role: "user" as const,
        content: "what is this?",
        images: [{ mediaType: "image/png" as const, base64: "iVBORw==" }],
      },
    ];
    t.equal((await wholeReply(providerAt(fake, kind).chat({ messages }, never()))).text, "a cat");
    t.match(fake.asked[0]!.body.messages[0], PICTURES[kind]);
  });

  if (json) {
    test(`${kind}: arguments that are no JSON are told as such`, async (t) => {
      const fake = await FakeProvider.start(() => ({ pieces: pieces([{ call: "query", json: ['{"sql": SELECT'] }]) }));
      t.teardown(() => fake.close());
      const { toolCalls } = await wholeReply(providerAt(fake, kind).chat(HELLO, never()));
      t.same(toolCalls[0]!.arguments, {});
      t.match(toolCalls[0]!.problem, /not valid JSON/);
    });
  }

  test(`${kind}: 429 with Retry-After is waited for and tried again`, async (t) => {
    const fake = await FakeProvider.start((_asked, number) =>
      number === 1
        ? {
            status: 429,
            headers: { "retry-after": "1", "content-type": "application/json" },
            pieces: ['{"error":{"message":"slow"}}'],
          }
        : { pieces: pieces(["ok"]) },
    );
    t.teardown(() => fake.close());
    const started = performance.now();
    t.equal((await wholeReply(providerAt(fake, kind).chat(HELLO, never()))).text, "ok");
    t.equal(fake.asked.length, 2);
    t.ok(performance.now() - started >= 990);
  });

  test(`${kind}: a limit for long is passed on with the wait`, async (t) => {
    const fake = await FakeProvider.start(() => ({ status: 429, headers: { "retry-after": "120" }, pieces: ["{}"] }));
    t.teardown(() => fake.close());
    const error = await failure(providerAt(fake, kind).chat(HELLO, never()));
    t.equal(error.code, "provider_unavailable");
    t.equal(error.details?.retry_after_seconds, 120);
    t.equal(fake.asked.length, 1);
  });

  test(`${kind}: a stream that breaks off, or ends without its end`, async (t) => {
    const broken = pieces(["half", " of", " it"]).slice(0, kind === "anthropic" ? 5 : 2);
    const fake = await FakeProvider.start((_asked, number) => ({ pieces: broken, cut: number === 1 }));
    t.teardown(() => fake.close());
    const provider = providerAt(fake, kind);
    for (const _ of [1, 2]) {
      const error = await failure(provider.chat(HELLO, never()));
      t.equal(error.code, "provider_error", error.message);
      t.match(error.message, /broke off/);
    }
    t.equal(fake.asked.length, 2);
  });

  test(`${kind}: what is no JSON`, async (t) => {
    const bad = kind === "ollama" ? "{nonsense\n" : "event: message_start\ndata: {nonsense\n\n";
    const fake = await FakeProvider.start(() => ({ pieces: [bad] }));
    t.teardown(() => fake.close());
    const error = await failure(providerAt(fake, kind, { retriesMax: 0 }).chat(HELLO, never()));
    t.equal(error.code, "provider_error", error.message);
  });

  test(`${kind}: a slow first token ends the wait`, async (t) => {
    const fake = await FakeProvider.start(() => ({ pieces: [60_000, ...pieces(["late"])] }));
    t.teardown(() => fake.close());
    const error = await failure(providerAt(fake, kind, { firstTokenTimeoutMs: 1000 }).chat(HELLO, never()));
    t.equal(error.code, "provider_unavailable");
    t.match(error.message, /no token within 1 s/);
    await fake.asked[0]!.gone;
  });

  test(`${kind}: the whole has a bound, also when tokens come`, async (t) => {
    const slow = pieces(["a", "b", "c", "d", "e", "f"]).flatMap((piece) => [piece, 60]);
    const fake = await FakeProvider.start(() => ({ pieces: slow }));
    t.teardown(() => fake.close());
    const error = await failure(providerAt(fake, kind, { timeoutMs: 150 }).chat(HELLO, never()));
    t.equal(error.code, "provider_unavailable");
    t.match(error.message, /did not answer within/);
  });

  test(`${kind}: who leaves, or fires the signal, ends the request`, async (t) => {
    const slow = pieces(["a", "b", "c"]).flatMap((piece) => [piece, 200]);
    const fake = await FakeProvider.start(() => ({ pieces: slow }));
    t.teardown(() => fake.close());
    const provider = providerAt(fake, kind);
    for await (const event of provider.chat(HELLO, never())) if (event.kind === "text") break;
    await fake.asked[0]!.gone;
    const stop = new AbortController();
    const reason = new DbError("cancelled");
    fake.script = () => {
      setImmediate(() => stop.abort(reason));
      return { pieces: slow };
    };
    t.equal(await failure(provider.chat(HELLO, stop.signal)), reason);
    await fake.asked[1]!.gone;
  });

  test(`${kind}: errors name the remedy, never the key`, async (t) => {
    const fake = await FakeProvider.start((_asked, number) => ({
      status: number === 1 ? 401 : 400,
      headers: { "content-type": "application/json" },
      pieces: [JSON.stringify({ error: { message: `bad key ${KEY}`, type: "invalid_request_error" } })],
    }));
    t.teardown(() => fake.close());
    const provider = providerAt(fake, kind);
    for (const status of [401, 400]) {
      const error = await failure(provider.chat(HELLO, never()));
      t.equal(error.code, "provider_error");
      t.match(error.message, String(status));
      t.notMatch(JSON.stringify([error.message, error.details]), KEY);
    }
  });
}

test("nobody listens: tried again, then told", async (t) => {
  const fake = await FakeProvider.start(() => ({ pieces: [] }));
  const provider = providerAt(fake, "openai", { retriesMax: 1 });
  await fake.close();
  const error = await failure(provider.chat(HELLO, never()));
  t.equal(error.code, "provider_unavailable");
  t.match(error.message, /cannot be reached \(ECONNREFUSED\)/);
});

test("a server that fails is asked again, a redirect is not followed", async (t) => {
  const fake = await FakeProvider.start((_asked, number) =>
    number < 3 ? { status: 500, pieces: ["oops"] } : { pieces: openaiPieces(["ok"]) },
  );
  t.teardown(() => fake.close());
  const provider = providerAt(fake, "openai");
  t.equal((await wholeReply(provider.chat(HELLO, never()))).text, "ok");
  fake.script = () => ({ status: 302, headers: { location: "http://127.0.0.1:1/" }, pieces: [] });
  t.match(
    (await failure(providerAt(fake, "openai", { retriesMax: 0 }).chat(HELLO, never()))).message,
    /cannot be reached/,
  );
});

test("so many at a time, so many wait", async (t) => {
  const fake = await FakeProvider.start(() => ({ pieces: [50, ...openaiPieces(["ok"])] }));
  t.teardown(() => fake.close());
  const provider = providerAt(fake, "openai", { requestsMax: 2, waitingMax: 3 });
  const ask = () =>
    wholeReply(provider.chat(HELLO, never())).then(
      ({ text }) => text,
      (error: DbError) => error.code,
    );
  const all = await Promise.all(Array.from({ length: 7 }, ask));
  t.same(all.filter((one) => one === "ok").length, 5);
  t.same(all.filter((one) => one === "overloaded").length, 2);
  t.equal(fake.mostUnderWay, 2);
  t.equal(await ask(), "ok");
});

test("a tenant's provider does not reach private addresses", async (t) => {
  const fake = await FakeProvider.start(() => ({ pieces: openaiPieces(["ok"]) }));
  t.teardown(() => fake.close());
  const { port } = new URL(fake.url);
  for (const baseUrl of [
    fake.url,
    `http://localhost:${port}/v1`,
    `http://[::ffff:127.0.0.1]:${port}`,
    `http://0x7f.1:${port}`,
  ]) {
    const settings = { kind: "openai" as const, baseUrl, model: "m", apiKey: null, isTenants: true };
    const error = await failure(new Providers(LIMITS).of(settings).chat(HELLO, never()));
    t.match(error.message, /private or loopback/, baseUrl);
    const allowed = new Providers({ ...LIMITS, privateAddresses: true }).of(settings);
    if (baseUrl === fake.url) t.equal((await wholeReply(allowed.chat(HELLO, never()))).text, "ok");
  }
  const privates = ["10.1.2.3", "172.31.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "::1", "::"];
  for (const address of [
    ...privates,
    "fe80::1",
    "fd00::1",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
    "2002:7f00:1::",
    "ff02::1",
  ]) {
    t.ok(isPrivateAddress(address), address);
  }
  for (const address of ["8.8.8.8", "172.32.0.1", "2606:4700::1111"]) t.notOk(isPrivateAddress(address), address);
});

test("a tenant's settings are sealed for the tenant", async (t) => {
  const own: OwnProvider = { kind: "openai", baseUrl: "https://llm.example.com/v1", model: "m", apiKey: KEY };
  const key = sealingKey(new Uint8Array(32).fill(7));
  const sealed = seal(own, 5, key);
  t.same(unseal(sealed, 5, key), own);
  t.notMatch(Buffer.from(sealed).toString("latin1"), KEY);
  t.equal(unseal(sealed, 6, key), null);
  t.equal(unseal(sealed, 5, sealingKey(new Uint8Array(32).fill(8))), null);
  const changed = Uint8Array.from(sealed);
  changed[changed.length - 1]! ^= 1;
  t.equal(unseal(changed, 5, key), null);
  t.equal(unseal(new Uint8Array(3), 5, key), null);
});
