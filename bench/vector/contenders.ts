/**
 * Who takes part in bench/vector: Tessera's vector collections, stores behind fastify (bench/peers/vectors), and
 * Chroma's own server. Each makes a graph with M 16 and ef_construction 100 for cosine.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../test/free-port.js";
import { tesseraVersion } from "../contenders/contenders.js";
import { jsonRequest, type Request } from "../load/requests.js";
import { cpuSecondsOf } from "../processes.js";
import {
  endChild,
  PEERS_FOLDER,
  post,
  type Running,
  removeDirectory,
  startChild,
  startPeer,
  startTessera,
  temporaryDirectory,
} from "../servers.js";
import { vectorJson } from "./data.js";

export interface VectorContender extends Running {
  readonly id: string;
  readonly versions: Readonly<Record<string, string>>;
  /** Ids are the vectors' numbers. `metadata` is JSON by number; null: none. */
  load(vectors: readonly Float32Array[], metadata: ((index: number) => string) | null): Promise<void>;
  /** Resolves when searches use a graph of all of them. */
  build(): Promise<void>;
  /** Searches keep so many candidates from now on. */
  setEf(ef: number): Promise<void>;
  /** `filter` is Tessera's, as JSON. */
  search(query: Float32Array, k: number, filter?: string): Request;
  idsOf(answer: unknown): readonly string[];
}

export const DIMENSIONS = 384;
const VECTOR_PEERS = join(PEERS_FOLDER, "vectors");
/** Vectors of one request while loading. */
const LOAD_VECTORS = 500;
const POLL_MS = 200;
/** What gives .97 with hnswlib, which Chroma uses. */
const CHROMA_EF = 24;

const starts: Readonly<Record<string, () => Promise<VectorContender>>> = {
  tessera: startTesseraVectors,
  usearch: () => startStore("usearch", "fastify + usearch"),
  hnswlib: () => startStore("hnswlib", "fastify + hnswlib-node"),
  lancedb: () => startStore("lancedb", "fastify + LanceDB"),
  pgvector: () => startStore("pgvector", "fastify + PGlite with pgvector"),
  chroma: startChroma,
};

export const VECTOR_CONTENDERS: readonly string[] = Object.keys(starts);

export function startVectorContender(id: string): Promise<VectorContender> {
  const start = starts[id];
  if (start === undefined) throw new Error(`unknown contender "${id}"; known: ${VECTOR_CONTENDERS.join(", ")}`);
  return start();
}

/** Calls with each part of the vectors, and the number of its first. */
async function inParts(
  vectors: readonly Float32Array[],
  send: (part: readonly Float32Array[], first: number) => Promise<unknown>,
): Promise<void> {
  for (let first = 0; first < vectors.length; first += LOAD_VECTORS) {
    await send(vectors.slice(first, first + LOAD_VECTORS), first);
  }
}

async function sendJson(method: string, url: string, body: string | null, token: string | null): Promise<unknown> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(body === null ? {} : { "content-type": "application/json" }),
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === null ? {} : { body }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${text}`);
  return text === "" ? null : JSON.parse(text);
}

export const sendRequest = ({ url }: Running, { method, path, headers, body }: Request): Promise<unknown> =>
  sendJson(method, url + path, body as string, headers.authorization?.slice("Bearer ".length) ?? null);

const pause = () => new Promise((resolve) => setTimeout(resolve, POLL_MS));

/** Resolves when the index of Tessera's collection is ready; a search has it made. */
export async function indexed({ token }: Running, path: string, search: () => Promise<unknown>): Promise<void> {
  for (;;) {
    await search();
    const answer = await sendJson("GET", path, null, token);
    if ((answer as { data: { index: { state: string } } }).data.index.state === "ready") return;
    await pause();
  }
}

/** QUANTIZATION: none, int8 or binary. */
async function startTesseraVectors(): Promise<VectorContender> {
  const server = await startTessera();
  const { token } = server;
  const collections = "/v1/vectors/collections";
  const quantization = process.env.QUANTIZATION ?? "none";
  await post(
    server.url + collections,
    { name: "item", dimensions: DIMENSIONS, metric: "cosine", m: 16, ef_construction: 100, quantization },
    token,
  );
  let ef = 64;
  const search = (query: Float32Array, k: number, filter?: string): Request => {
    const filtered = filter === undefined ? "" : `,"filter":${filter}`;
    const body = `{"vector":${vectorJson(query)},"limit":${k},"ef":${ef},"include_metadata":false${filtered}}`;
    return jsonRequest(`${collections}/item/search`, token, body);
  };
  return {
    ...server,
    id: "tessera",
    versions: { Tessera: tesseraVersion(), node: process.version },
    load: (vectors, metadata) =>
      inParts(vectors, (part, first) => {
        const items = part.map((vector, i) => {
          const said = metadata === null ? "" : `,"metadata":${metadata(first + i)}`;
          return `{"id":"${first + i}","vector":${vectorJson(vector)}${said}}`;
        });
        const url = `${server.url}${collections}/item/vectors/batch`;
        return sendJson("POST", url, `{"vectors":[${items.join()}]}`, token);
      }),
    build: () => {
      const probe = search(new Float32Array(DIMENSIONS).fill(1), 1);
      return indexed(server, `${server.url}${collections}/item`, () => sendRequest(server, probe));
    },
    setEf: async (value) => {
      ef = value;
    },
    search,
    idsOf: (answer) => (answer as { data: { id: string }[] }).data.map(({ id }) => id),
  };
}

async function startStore(store: string, name: string): Promise<VectorContender> {
  const server = await startPeer(store, name, {}, VECTOR_PEERS);
  const { token, url } = server;
  return {
    ...server,
    id: store,
    load: (vectors) =>
      inParts(vectors, (part) =>
        sendJson("POST", `${url}/load`, `{"vectors":[${part.map(vectorJson).join()}]}`, token),
      ),
    build: async () => void (await sendJson("POST", `${url}/build`, null, token)),
    setEf: async (ef) => void (await post(`${url}/ef`, { ef }, token)),
    search: (query, k) => jsonRequest("/search", token, `{"vector":${vectorJson(query)},"k":${k}}`),
    idsOf: (answer) => (answer as { data: { id: string }[] }).data.map(({ id }) => id),
  };
}

/** Without a check of who asks. Its graph keeps the candidates that it was made for. */
async function startChroma(): Promise<VectorContender> {
  const directory = temporaryDirectory("chroma");
  const port = await freePort();
  const script = join(VECTOR_PEERS, "node_modules/chromadb/dist/cli.mjs");
  const child = startChild(process.execPath, [script, "run", "--path", directory, "--port", String(port)], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  const url = `http://127.0.0.1:${port}`;
  let ended = false;
  child.on("exit", () => {
    ended = true;
  });
  while (
    !(await fetch(`${url}/api/v2/heartbeat`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (ended) throw new Error("Chroma's server ended before it listened");
    await pause();
  }
  const base = "/api/v2/tenants/default_tenant/databases/default_database/collections";
  const hnsw = { space: "cosine", ef_construction: 100, max_neighbors: 16, ef_search: CHROMA_EF };
  const made = await sendJson("POST", url + base, JSON.stringify({ name: "item", configuration: { hnsw } }), null);
  const collection = `${base}/${(made as { id: string }).id}`;
  const versionOf = (name: string): string =>
    (JSON.parse(readFileSync(join(VECTOR_PEERS, "node_modules", name, "package.json"), "utf8")) as { version: string })
      .version;
  return {
    id: "chroma",
    name: "Chroma",
    url,
    token: "",
    pid: child.pid!,
    roots: [child.pid!],
    versions: { chromadb: versionOf("chromadb"), bindings: versionOf("chromadb-js-bindings-linux-x64-gnu") },
    cpuSeconds: () => cpuSecondsOf([child.pid!]),
    stop: async () => {
      await endChild(child, "SIGKILL");
      removeDirectory(directory);
    },
    load: (vectors) =>
      inParts(vectors, (part, first) => {
        const ids = part.map((_, i) => `"${first + i}"`);
        const body = `{"ids":[${ids.join()}],"embeddings":[${part.map(vectorJson).join()}]}`;
        return sendJson("POST", `${url}${collection}/add`, body, null);
      }),
    // It builds while it is loaded; a search waits for what is left.
    build: async () => {
      const query = JSON.stringify({ query_embeddings: [new Array(DIMENSIONS).fill(1)], n_results: 1 });
      await sendJson("POST", `${url}${collection}/query`, query, null);
    },
    setEf: async () => undefined,
    search: (query, k) => {
      const body = `{"query_embeddings":[${vectorJson(query)}],"n_results":${k},"include":["distances"]}`;
      return { method: "POST", path: `${collection}/query`, headers: { "content-type": "application/json" }, body };
    },
    idsOf: (answer) => (answer as { ids: string[][] }).ids[0]!,
  };
}
