/**
 * `make first-hour`: what one who has just come does, timed, with the packages as npm installs them: an empty folder,
 * the program and the clients, a CSV that is loaded, searched and chatted with from the shell, Node.js, Python,
 * OpenAI's package and the AI SDK.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const ROOT = new URL("../../../", import.meta.url).pathname;
const SOURCES = `${ROOT}test/conformance/first-hour/`;
/** Those of `make conformance-openai`. */
const OTHERS = ["openai@6.49.0", "ai@6.0.325", "@ai-sdk/openai@3.0.141", "zod@4.6.7"];
const PASSWORD = "correct-horse-battery";
const PORT = process.env.PORT ?? "18431";
const URL_ = `http://127.0.0.1:${PORT}`;

const folder = mkdtempSync(join(tmpdir(), "tessera-first-hour-"));
const environment: NodeJS.ProcessEnv = {
  PATH: process.env.PATH ?? "",
  HOME: folder,
  TESSERA_CLIENT_URL: URL_,
  TESSERA_CLIENT_USERNAME: "admin",
  TESSERA_CLIENT_PASSWORD: PASSWORD,
  TESSERA: join(folder, "node_modules/.bin/tessera"),
  TESSERA_URL: URL_,
  PYTHONPATH: join(ROOT, "clients/python"),
  NO_UPDATE_NOTIFIER: "1",
};
const started = performance.now();
let server: ChildProcess | null = null;

async function timed(what: string, work: () => void | Promise<void>): Promise<void> {
  const begun = performance.now();
  await work();
  console.log(`${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${what}`);
}

function run(command: string, ...args: readonly string[]): string {
  const ended = spawnSync(command, args, { cwd: folder, env: environment, encoding: "utf8", timeout: 600_000 });
  if (ended.status === 0) return ended.stdout;
  throw new Error(`${command} ${args.join(" ")}: ${ended.error?.message ?? ""}${ended.stdout}${ended.stderr}`);
}

async function serve(): Promise<void> {
  const { PATH, HOME } = environment;
  const env = { PATH, HOME, TESSERA_PORT: PORT, TESSERA_ADMIN_PASSWORD: PASSWORD };
  const child = spawn(environment.TESSERA!, ["serve"], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  server = child;
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on("line", (line) => {
      if (line.startsWith("listening on http")) resolve();
    });
    child.once("exit", (code) => reject(new Error(`the server ended with code ${code}`)));
  });
}

try {
  cpSync(SOURCES, folder, { recursive: true });
  const packages = readdirSync(`${ROOT}dist-npm`).map((name) => `${ROOT}dist-npm/${name}`);
  await timed("npm install: the program and the client", () => void run("npm", "install", "--no-audit", ...packages));
  await timed("tessera serve, to its first answer", serve);
  await timed("shell: import a CSV, search, chat, SQL", () => void run("bash", "shell.sh"));
  await timed("an API key", () => {
    environment.TESSERA_KEY = /ak_\S+/.exec(run(environment.TESSERA!, "api-keys", "create", "hour"))![0];
  });
  await timed("Node.js: SQL, search, chat", () => void run("node", "node.mjs"));
  await timed("Python: SQL, search, chat", () => void run("python3", "python.py"));
  await timed("npm install: openai and the AI SDK", () => void run("npm", "install", "--no-audit", ...OTHERS));
  await timed("openai: chat, stream, embeddings", () => void run("node", "openai.mjs"));
  await timed("AI SDK: generateText, streamText", () => void run("node", "ai-sdk.mjs"));
  const left = readdirSync(folder).filter((name) => !readdirSync(SOURCES).includes(name));
  const expected = ["data", "node_modules", "package-lock.json", ".npm", ".config"];
  const strange = left.filter((name) => !expected.includes(name));
  if (strange.length > 0) throw new Error(`made beside the data: ${strange.join(", ")}`);
  console.log(
    `${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s  in all, on Node ${process.versions.node}`,
  );
} finally {
  (server as ChildProcess | null)?.kill();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
