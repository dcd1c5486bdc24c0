/**
 * Embeddings: texts a second over HTTP (64 connections, one text each; batches of 100) and in SQL (10,000 rows), beside
 * the same model called directly in this process: by ONNX Runtime, and by the code that the server runs. Texts of 6 to
 * 20 words from the model's vocabulary by Zipf's law, from a fixed seed. TEXTS (10,000).
 */
import { join } from "node:path";
import { findBundles } from "../src/ai/bundle.js";
import { loadOnnxEncoder } from "../src/ai/onnx-encoder.js";
import { StaticEncoder } from "../src/ai/static-encoder.js";
import { loadGenerator, throughput } from "./load/generators.js";
import { FIRST_KEY, jsonRequest, writeRequests } from "./load/requests.js";
import { sentences } from "./sentences.js";
import { post, ROOT, type Running, removeDirectory, startTessera, temporaryDirectory } from "./servers.js";
import { median } from "./statistics.js";

const CONNECTIONS = 64;
const BATCH_TEXTS = 100;
const ONNX_BATCH_TEXTS = 64;

/** Texts per second and per CPU second of whoever makes the vectors, of each round. */
interface Line {
  readonly label: string;
  readonly perSecond: number[];
  readonly perCpuSecond: number[];
}

const bundle = () => findBundles(join(ROOT, "models")).find(({ manifest }) => manifest?.kind === "embedding")!;

export async function embed(rounds: number, seconds: number): Promise<void> {
  const found = bundle();
  const { directory, manifest } = found;
  const texts = sentences(Number(process.env.TEXTS ?? 10_000), found, "embed");
  const onnx = await loadOnnxEncoder(directory, manifest!, 1);
  const own = StaticEncoder.load(directory, manifest!);
  const server = await startTessera({ TESSERA_ACTORS: "1", TESSERA_QUERY_MAX_ROWS: String(texts.length) });
  const folder = temporaryDirectory("embed");
  try {
    await storeTexts(server, texts);
    const single = join(folder, "single");
    const batch = join(folder, "batch");
    writeRequests(
      single,
      server.url,
      texts.map((text) => embedding(server, "", { text })),
      true,
    );
    writeRequests(
      batch,
      server.url,
      batchesOf(texts, BATCH_TEXTS).map((some) => embedding(server, "/batch", { texts: some })),
      true,
    );
    const lines = new Map<string, Line>();
    const measure = async (label: string, run: () => Promise<Measured>): Promise<void> => {
      const { count, took, cpu } = await run();
      const line = lines.get(label) ?? { label, perSecond: [], perCpuSecond: [] };
      lines.set(label, line);
      line.perSecond.push(count / took);
      line.perCpuSecond.push(count / cpu);
    };
    const http = (file: string, textsEach: number) => () => overHttp(server, file, textsEach, seconds);
    const sql = (statement: string) => () => inSql(server, statement, texts.length);
    for (let round = 0; round < rounds; round++) {
      await measure("ONNX Runtime here, one at a time", () => here(texts, 1, (some) => onnx.run(some)));
      await measure("ONNX Runtime here, 64 a run", () => here(texts, ONNX_BATCH_TEXTS, (some) => onnx.run(some)));
      await measure("the static runtime here", () => here(texts, 1, ([text]) => own.encode(text!)));
      await measure("HTTP, a text each", http(single, 1));
      await measure(`HTTP, ${BATCH_TEXTS} texts each`, http(batch, BATCH_TEXTS));
      await measure("SQL, the vectors as the answer", sql("SELECT embed(body) FROM note"));
      await measure(
        "SQL, the vectors summed up",
        sql("SELECT sum(v[1]) FROM (SELECT embed(body)::real[] AS v FROM note) n"),
      );
    }
    print([...lines.values()]);
  } finally {
    await onnx.release();
    await server.stop();
    removeDirectory(folder);
  }
}

interface Measured {
  readonly count: number;
  /** Seconds. */
  readonly took: number;
  readonly cpu: number;
}

const embedding = ({ token }: Running, path: string, body: object) =>
  jsonRequest(`/v1/ai/embeddings${path}`, token, JSON.stringify(body));

function batchesOf(texts: readonly string[], size: number): string[][] {
  return Array.from({ length: Math.ceil(texts.length / size) }, (_, i) => texts.slice(i * size, (i + 1) * size));
}

async function storeTexts(server: Running, texts: readonly string[]): Promise<void> {
  const run = (sql: string, parameters: unknown[] = []) =>
    post(`${server.url}/v1/query/execute`, { sql, parameters }, server.token);
  await run("CREATE TABLE note (id integer PRIMARY KEY, body text)");
  await run("INSERT INTO note SELECT row_number() OVER (), t FROM unnest($1::text[]) t", [texts]);
}

async function here(
  texts: readonly string[],
  size: number,
  encode: (texts: readonly string[]) => unknown,
): Promise<Measured> {
  const before = process.cpuUsage();
  const started = performance.now();
  for (const some of batchesOf(texts, size)) await encode(some);
  const { user, system } = process.cpuUsage(before);
  return { count: texts.length, took: (performance.now() - started) / 1000, cpu: (user + system) / 1e6 };
}

async function overHttp(server: Running, file: string, textsEach: number, seconds: number): Promise<Measured> {
  const load = { url: server.url, file, firstKey: FIRST_KEY, connections: CONNECTIONS, seconds, keepAlive: true };
  const before = server.cpuSeconds();
  const { requests, seconds: took, errors } = await throughput(load, loadGenerator());
  if (errors > 0) throw new Error(`${errors} of ${requests} requests failed`);
  return { count: requests * textsEach, took, cpu: server.cpuSeconds() - before };
}

/** Some statements one after the other, since CPU time is told in hundredths of a second. Nobody parses the answers. */
async function inSql(server: Running, sql: string, rows: number): Promise<Measured> {
  const times = 3;
  const before = server.cpuSeconds();
  const started = performance.now();
  for (let i = 0; i < times; i++) {
    const headers = { "content-type": "application/json", authorization: `Bearer ${server.token}` };
    const body = JSON.stringify({ sql, max_rows: rows });
    const reply = await fetch(`${server.url}/v1/query/execute`, { method: "POST", headers, body });
    const { byteLength } = await reply.arrayBuffer();
    if (!reply.ok) throw new Error(`${reply.status}, ${byteLength} bytes: ${sql}`);
  }
  const took = (performance.now() - started) / 1000;
  return { count: times * rows, took, cpu: server.cpuSeconds() - before };
}

function print(lines: readonly Line[]): void {
  console.log(`\nembeddings, median of ${lines[0]!.perSecond.length}: texts a second, and per CPU second`);
  for (const { label, perSecond, perCpuSecond } of lines) {
    const all = median(perSecond).toFixed(0).padStart(8);
    console.log(`  ${label.padEnd(34)} ${all}/s ${median(perCpuSecond).toFixed(0).padStart(8)} per CPU s`);
  }
}
