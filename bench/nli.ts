/**
 * Verification of claims: pairs a second over HTTP with 1 and 32 anchors, latencies with one client and with several,
 * and rows in SQL, beside the same model called directly in this process: by ONNX Runtime on prepared tokens, and by
 * the code that the server runs. Premises and hypotheses of 6 to 20 words from the model's vocabulary, from a fixed
 * seed. MODEL (nli-mini), CLIENTS (16).
 */
import { join } from "node:path";
import { Tensor } from "onnxruntime-node";
import { findBundles, readBundleFile } from "../src/ai/bundle.js";
import type { TextPair } from "../src/ai/inference-messages.js";
import { loadCrossEncoder } from "../src/ai/nli/cross-encoder.js";
import { PairTokenizer } from "../src/ai/nli/pair-tokenizer.js";
import { openSession } from "../src/ai/onnx-session.js";
import { closedLoop } from "./load/generators.js";
import { FIRST_KEY, jsonRequest, writeRequests } from "./load/requests.js";
import { sentences } from "./sentences.js";
import { post, ROOT, type Running, removeDirectory, startTessera, temporaryDirectory } from "./servers.js";
import { median } from "./statistics.js";

const ANCHORS_MAX = 32;
const TEXTS = 2048;
const SQL_ROWS = 1000;

interface Line {
  readonly label: string;
  readonly pairsPerSecond: number[];
  readonly pairsPerCpuSecond: number[];
  /** Milliseconds, of requests. */
  readonly p50: number[];
  readonly p99: number[];
}

interface Measured {
  readonly pairs: number;
  /** Seconds. */
  readonly took: number;
  readonly cpu: number;
  readonly p50?: number;
  readonly p99?: number;
}

export async function nli(rounds: number, seconds: number): Promise<void> {
  const model = process.env.MODEL ?? "nli-mini";
  const clients = Number(process.env.CLIENTS ?? 16);
  const bundle = findBundles(join(ROOT, "models")).find(({ manifest }) => manifest?.id === model);
  if (bundle === undefined) throw new Error(`there is no bundle ${model} in the folder models`);
  const texts = sentences(TEXTS, bundle, "nli");
  const direct = await directRuns(bundle.directory, texts, seconds);
  const server = await startTessera({
    TESSERA_ACTORS: "1",
    TESSERA_NLI_ENABLED: "true",
    TESSERA_NLI_DEFAULT_MODEL: model,
    TESSERA_QUERY_MAX_ROWS: String(SQL_ROWS),
  });
  const folder = temporaryDirectory("nli");
  try {
    const lines = new Map<string, Line>();
    const measure = async (label: string, run: () => Promise<Measured>): Promise<void> => {
      const { pairs, took, cpu, p50, p99 } = await run();
      const line = lines.get(label) ?? { label, pairsPerSecond: [], pairsPerCpuSecond: [], p50: [], p99: [] };
      lines.set(label, line);
      line.pairsPerSecond.push(pairs / took);
      line.pairsPerCpuSecond.push(pairs / cpu);
      if (p50 !== undefined) line.p50.push(p50);
      if (p99 !== undefined) line.p99.push(p99);
    };
    await storeTexts(server, texts.slice(0, SQL_ROWS));
    for (let round = 0; round < rounds; round++) {
      for (const [label, run] of direct.runs) await measure(label, run);
      for (const anchors of [1, ANCHORS_MAX]) {
        for (const connections of [1, clients]) {
          const label = `HTTP, ${anchors} ${anchors === 1 ? "anchor" : "anchors"}, ${connections} at a time`;
          const file = join(folder, `verify-${anchors}`);
          writeRequests(file, server.url, requestsOf(server, texts, anchors), true);
          await measure(label, () => overHttp(server, file, anchors, connections, seconds));
        }
      }
      await measure(`SQL, NLI_CLASSIFY of ${SQL_ROWS} rows`, () => inSql(server, model));
    }
    print(model, [...lines.values()]);
  } finally {
    await direct.release();
    await server.stop();
    removeDirectory(folder);
  }
}

interface Direct {
  readonly runs: readonly (readonly [label: string, run: () => Promise<Measured>])[];
  release(): Promise<void>;
}

/** In this process, which does nothing else meanwhile. */
async function directRuns(directory: string, texts: readonly string[], seconds: number): Promise<Direct> {
  const { manifest } = findBundles(join(directory, "..")).find((one) => one.directory === directory)!;
  const encoder = await loadCrossEncoder(directory, manifest!, 1);
  const { session } = await openSession(directory, manifest!, 1, /./);
  const tokenizer = new PairTokenizer(
    readBundleFile(directory, manifest!, manifest!.tokenizer).toString(),
    manifest!.max_length,
  );
  const batches = (size: number): TextPair[][] =>
    Array.from({ length: Math.floor(texts.length / (size + 1)) }, (_, i) =>
      Array.from({ length: size }, (_, k) => ({
        premise: texts[i * (size + 1) + k + 1]!,
        hypothesis: texts[i * (size + 1)]!,
      })),
    );
  const prepared = (size: number) => batches(size).map((pairs) => feedsOf(tokenizer, pairs, session.inputNames));
  const here = <T>(work: readonly T[], pairsEach: number, run: (one: T) => Promise<unknown>) =>
    (async () => {
      const before = process.cpuUsage();
      const started = performance.now();
      let pairs = 0;
      for (let i = 0; performance.now() - started < seconds * 1000; i++) {
        await run(work[i % work.length]!);
        pairs += pairsEach;
      }
      const { user, system } = process.cpuUsage(before);
      return { pairs, took: (performance.now() - started) / 1000, cpu: (user + system) / 1e6 };
    })();
  const [ones, many] = [prepared(1), prepared(ANCHORS_MAX)];
  const own = batches(ANCHORS_MAX);
  return {
    runs: [
      ["ONNX Runtime here, one pair a run", () => here(ones, 1, (feeds) => session.run(feeds))],
      ["ONNX Runtime here, 32 pairs a run", () => here(many, ANCHORS_MAX, (feeds) => session.run(feeds))],
      ["the server's code here, 32 pairs", () => here(own, ANCHORS_MAX, (pairs) => encoder.run(pairs))],
    ],
    async release() {
      await session.release();
      await encoder.release();
    },
  };
}

function feedsOf(tokenizer: PairTokenizer, pairs: readonly TextPair[], names: readonly string[]) {
  const encoded = tokenizer.encode(pairs);
  const length = Math.max(...encoded.map(({ ids }) => ids.length));
  const padded = (numberAt: (pair: (typeof encoded)[number], at: number) => number): Tensor => {
    const values = encoded.flatMap((pair) =>
      Array.from({ length }, (_, at) => BigInt(at < pair.ids.length ? numberAt(pair, at) : 0)),
    );
    return new Tensor("int64", BigInt64Array.from(values), [pairs.length, length]);
  };
  const all: Readonly<Record<string, Tensor>> = {
    input_ids: padded(({ ids }, at) => ids[at]!),
    attention_mask: padded(() => 1),
    token_type_ids: padded(({ types }, at) => types[at]!),
  };
  return Object.fromEntries(names.map((name) => [name, all[name]!]));
}

function requestsOf({ token }: Running, texts: readonly string[], anchors: number) {
  return Array.from({ length: Math.floor(texts.length / (anchors + 1)) }, (_, i) => {
    const [statement, ...rest] = texts.slice(i * (anchors + 1), (i + 1) * (anchors + 1));
    return jsonRequest("/v1/ai/nli/verify", token, JSON.stringify({ statement, truth_anchors: rest }));
  });
}

async function overHttp(
  server: Running,
  file: string,
  pairsEach: number,
  connections: number,
  seconds: number,
): Promise<Measured> {
  const before = server.cpuSeconds();
  const load = { url: server.url, file, firstKey: FIRST_KEY, connections, seconds, keepAlive: true };
  const { requests, errors, elapsedMs, p50Ms, p99Ms } = await closedLoop(load);
  if (errors > 0) throw new Error(`${errors} of ${requests} requests failed`);
  const cpu = server.cpuSeconds() - before;
  return { pairs: requests * pairsEach, took: elapsedMs / 1000, cpu, p50: p50Ms, p99: p99Ms };
}

async function storeTexts(server: Running, texts: readonly string[]): Promise<void> {
  const run = (sql: string, parameters: unknown[] = []) =>
    post(`${server.url}/v1/query/execute`, { sql, parameters }, server.token);
  await run("CREATE TABLE claim (id integer PRIMARY KEY, body text)");
  await run("INSERT INTO claim SELECT row_number() OVER (), t FROM unnest($1::text[]) t", [texts]);
}

async function inSql(server: Running, model: string): Promise<Measured> {
  const before = server.cpuSeconds();
  const started = performance.now();
  const sql = `SELECT id, nli_classify('${model}', 'two dogs run in a field', body) AS c FROM claim`;
  await post(`${server.url}/v1/query/execute`, { sql, max_rows: SQL_ROWS }, server.token);
  return { pairs: SQL_ROWS, took: (performance.now() - started) / 1000, cpu: server.cpuSeconds() - before };
}

function print(model: string, lines: readonly Line[]): void {
  console.log(
    `\nclaims by ${model}, median of ${lines[0]!.pairsPerSecond.length}: pairs a second, per CPU second, latency`,
  );
  for (const { label, pairsPerSecond, pairsPerCpuSecond, p50, p99 } of lines) {
    const all = median(pairsPerSecond).toFixed(0).padStart(6);
    const cpu = median(pairsPerCpuSecond).toFixed(0).padStart(6);
    const times = p50.length === 0 ? "" : `  p50 ${median(p50).toFixed(1)} ms, p99 ${median(p99).toFixed(1)} ms`;
    console.log(`  ${label.padEnd(36)} ${all}/s ${cpu} per CPU s${times}`);
  }
}
