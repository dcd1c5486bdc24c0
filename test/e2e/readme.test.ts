/** The README's first tour: every command of it is run by bash, as a reader would paste it, against a new server. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import t from "tap";
import { ADMIN_PASSWORD, TestServer } from "./server.js";

const README = new URL("../../../README.md", import.meta.url);

/** What the answers of a block must hold, by words of its commands; every block has one. */
const ANSWERS: readonly (readonly [command: string, ...answers: readonly RegExp[]])[] = [
  ["SELECT nam FROM city", /Lisbon/, /777000/, /"error":\{"code":"query_error".*Did you mean name\?/],
  ["v1/transactions", /"rows_affected":1/, /"committed"/],
  ["admin/tenants", /"acme"/, /"ann"/, /"raw_key":"/],
  ["Idempotency-Key", /("execution_time_ms":[\d.]+)[^\n]*\n[^\n]*\1/],
  ["cities.csv", /"rows":2,"rows_skipped":0/, /Vila Nova, de Gaia/],
  ["PARTITION BY RANGE", /PORTO/, /Lisbon/],
  ["PROPERTY GRAPH", /\["Braga",350\]/],
  ["EMBED", /Bread needs flour/, /"tessera-embed-384"/],
  ["vectors/collections", /"rust"/, /"sky"/],
  ["documents/bulk", /Walden/, /Emma/],
  ["multimodal/images", /banner/],
  ["graph/match", /"Ada"/, /Marie Curie/],
  ["automl/train", /"credit"/, /verdict/],
];

function blocks(): string[] {
  const tour = readFileSync(README, "utf8").split("\n## ")[1]!;
  const all = [...tour.matchAll(/^```bash\n([\s\S]*?)^```/gm)].map(([, commands]) => commands!);
  return all.filter((commands) => !commands.includes("make start"));
}

const canRun = spawnSync("curl", ["--version"]).status === 0;

t.test("the tour of the README", { skip: canRun ? false : "the tour needs curl" }, async (t) => {
  const server = await TestServer.start();
  const cwd = mkdtempSync(join(tmpdir(), "tessera-readme-"));
  t.teardown(async () => {
    rmSync(cwd, { recursive: true });
    await server.stop();
  });
  const commands = blocks();
  t.equal(commands.length, ANSWERS.length, "a block has no answers to look for, or there are answers without a block");
  const script = commands
    .map((block, i) => `printf '\\n==== ${i}\\n'\n${block}`)
    .join("\n")
    .replace("http://127.0.0.1:8080", server.url)
    .replaceAll("correct-horse", ADMIN_PASSWORD);
  const bash = spawn("bash", ["-u"], { cwd, stdio: ["pipe", "pipe", "pipe"] });
  bash.stdin.end(script);
  const [written, complaints] = await Promise.all([text(bash.stdout), text(bash.stderr)]);
  t.equal(complaints, "");
  const answers = written.split(/\n==== \d+\n/).slice(1);
  for (const [i, [name, ...expected]] of ANSWERS.entries()) {
    t.ok(commands[i]!.includes(name), `block ${i} is about ${name}`);
    for (const answer of expected) t.match(answers[i], answer, name);
    const failed = answers[i]!.split("\n").filter((line) => line.includes('{"error":'));
    t.equal(failed.length, i === 0 ? 1 : 0, failed.join("\n"));
  }
});
