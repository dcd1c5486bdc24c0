/**
 * Chats with a bundled model: how long until the first token and how many a second for one reader; then READERS (100)
 * of streams at a time, in tenants of 20, each with a new chat as soon as its answer has ended: gaps between tokens as
 * a reader sees them, and point reads of another tenant at a fixed rate meanwhile, beside the same alone. TOKENS (64)
 * of an answer at most. TESSERA_AI_MODEL_ROOT and TESSERA_AI_GENERATION_MODEL name another bundle.
 */
import { post, type Running, startTessera } from "./servers.js";
import { sortedQuantile } from "./statistics.js";

const READERS_PER_TENANT = 20;
const READS_PER_SECOND = 100;
const PASSWORD = "a password for the bench";

interface Answer {
  readonly firstMs: number;
  readonly gapsMs: readonly number[];
  readonly tokens: number;
  readonly wholeMs: number;
}

type Tenant = { readonly url: string; readonly token: string };

export async function chat(_rounds: number, seconds: number): Promise<void> {
  const readers = Number(process.env.READERS ?? 100);
  const tokens = Number(process.env.TOKENS ?? 64);
  const server = await startTessera({ TESSERA_ACTORS: "1" });
  try {
    const quiet = await tenant(server, "quiet");
    await post(`${quiet.url}/v1/query/execute`, { sql: "CREATE TABLE kv (id int PRIMARY KEY, v text)" }, quiet.token);
    await post(
      `${quiet.url}/v1/query/execute`,
      { sql: "INSERT INTO kv SELECT i, 'value ' || i FROM generate_series(1, 10000) AS g(i)" },
      quiet.token,
    );
    const tenants: Tenant[] = [];
    for (let i = 0; i < Math.ceil(readers / READERS_PER_TENANT); i++) tenants.push(await tenant(server, `chat${i}`));
    const first = await session(tenants[0]!);
    // Loads the model.
    await answer(tenants[0]!, first, tokens);
    const alone: Answer[] = [];
    for (let i = 0; i < 10; i++) alone.push(await answer(tenants[0]!, await session(tenants[0]!), tokens));
    report("one reader", alone, null);
    print("point reads alone", await pointReads(quiet, performance.now() + seconds * 1000));
    const started = performance.now();
    const until = started + seconds * 1000;
    const reads = pointReads(quiet, until);
    const owners = Array.from({ length: readers }, (_, i) => tenants[i % tenants.length]!);
    const answers = await Promise.all(owners.map((own) => untilTime(own, tokens, until)));
    report(`${readers} readers`, answers.flat(), performance.now() - started);
    print("point reads meanwhile", await reads);
  } finally {
    await server.stop();
  }
}

async function tenant({ url, token }: Running, id: string): Promise<Tenant> {
  await post(`${url}/admin/tenants`, { id }, token);
  await post(`${url}/admin/tenants/${id}/users`, { username: id, password: PASSWORD }, token);
  const login = await post(`${url}/v1/auth/login`, { username: id, password: PASSWORD }, null);
  return { url, token: login.access_token as string };
}

async function session({ url, token }: Tenant): Promise<string> {
  const { session_id } = await post(`${url}/v1/ai/sessions`, { model: "native", system_prompt: "Be brief." }, token);
  return session_id as string;
}

async function untilTime(own: Tenant, tokens: number, until: number): Promise<Answer[]> {
  const answers: Answer[] = [];
  do answers.push(await answer(own, await session(own), tokens));
  while (performance.now() < until);
  return answers;
}

/** A stream, read to its end. */
async function answer({ url, token }: Tenant, session_id: string, max_tokens: number): Promise<Answer> {
  const started = performance.now();
  const response = await fetch(`${url}/v1/ai/chat/stream`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ session_id, content: "Tell me something about dogs, please.", max_tokens, temperature: 1 }),
  });
  if (!response.ok) throw new Error(`the chat answered ${response.status}: ${await response.text()}`);
  const gapsMs: number[] = [];
  let firstMs = 0;
  let lastMs = 0;
  let text = "";
  const decoder = new TextDecoder();
  for await (const piece of response.body!) {
    const now = performance.now() - started;
    if (firstMs === 0) firstMs = now;
    else gapsMs.push(now - lastMs);
    lastMs = now;
    text += decoder.decode(piece as Uint8Array, { stream: true });
  }
  const last = text.split("\n\n").find((frame) => frame.includes('"done":true'));
  if (last === undefined) throw new Error("a stream has no end");
  const { usage } = JSON.parse(last.slice("data: ".length)) as { usage: { output_tokens: number } };
  return { firstMs, gapsMs, tokens: usage.output_tokens, wholeMs: performance.now() - started };
}

/** Latencies, from when each should have begun. */
async function pointReads({ url, token }: Tenant, until: number): Promise<number[]> {
  const took: Promise<number>[] = [];
  const started = performance.now();
  for (let i = 0; ; i++) {
    const due = started + (i * 1000) / READS_PER_SECOND;
    if (due > until) break;
    const wait = due - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const read = post(
      `${url}/v1/query/execute`,
      { sql: "SELECT v FROM kv WHERE id = $1", parameters: [i % 10_000] },
      token,
    );
    took.push(read.then(() => performance.now() - due));
  }
  return Promise.all(took);
}

function report(what: string, answers: readonly Answer[], elapsedMs: number | null): void {
  const tokens = answers.reduce((sum, one) => sum + one.tokens, 0);
  const ms = elapsedMs ?? answers.reduce((sum, { wholeMs }) => sum + wholeMs, 0);
  console.log(`${what}: ${answers.length} answers, ${tokens} tokens, ${Math.round((tokens * 1000) / ms)} tokens/s`);
  print(
    "  first token",
    answers.map(({ firstMs }) => firstMs),
  );
  print(
    "  gaps between tokens",
    answers.flatMap(({ gapsMs }) => gapsMs),
  );
}

function print(what: string, ms: readonly number[]): void {
  const sorted = ms.toSorted((one, other) => one - other);
  const at = (share: number) => (sortedQuantile(sorted, share) ?? 0).toFixed(1);
  console.log(`${what}: ${sorted.length}, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`);
}
