/** What every command has: help with examples, completions, JSON for scripts, and exit codes. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { PROGRAM } from "./server.js";

const folder = mkdtempSync(join(tmpdir(), "tessera-help-"));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

function run(program: string, args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const env = { PATH: process.env.PATH, HOME: folder, TESSERA_DATA_DIR: join(folder, "data") };
    execFile(program, args, { cwd: folder, env }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}

/** What users look for. */
const WANTED = [
  ...["serve", "check-config", "reset-password", "diagnostics", "upgrade", "accept-loss", "sql", "import", "export"],
  ...["search", "chat", "models list", "models pull", "models delete", "users list", "users create", "users delete"],
  ...[
    "tenants list",
    "tenants create",
    "api-keys list",
    "api-keys create",
    "api-keys delete",
    "keys list",
    "keys rotate",
  ],
  ...["keys reseal", "keys drop", "backup create", "backup list", "backup verify", "backup restore", "doctor", "bench"],
  ...["types", "completion"],
];
/** They print nothing, or what a shell reads. */
const WITHOUT_JSON = /^(?:serve|completion|help|cluster .*)$/;

/** The words that may follow each chain of commands, as the shell's own script says. */
async function completions(shell: "bash" | "zsh"): Promise<Map<string, readonly string[]>> {
  const script = (await run(PROGRAM, ["completion", shell])).out;
  // zsh need not be here: its table of words is a function that bash understands, too.
  const words = script.slice(script.indexOf("_tessera_words()"), script.indexOf("_tessera() {"));
  writeFileSync(join(folder, shell), words);
  const found = new Map<string, readonly string[]>();
  const wanted = [""];
  for (let chain = wanted.shift(); chain !== undefined; chain = wanted.shift()) {
    const { out } = await run("bash", ["-c", `. ./${shell}; _tessera_words "$1"`, "bash", chain]);
    const followers = out.split(" ").filter((word) => word !== "");
    found.set(chain, followers);
    for (const word of followers) if (!word.startsWith("-")) wanted.push(chain === "" ? word : `${chain} ${word}`);
  }
  return found;
}

t.test("both shells complete every command and its options", async (t) => {
  const [bash, zsh] = await Promise.all([completions("bash"), completions("zsh")]);
  t.same([...zsh], [...bash]);
  for (const command of WANTED) t.ok(bash.has(command), command);
  const leaves = [...bash].filter(([, words]) => words.every((word) => word.startsWith("-"))).map(([chain]) => chain);
  t.ok(leaves.length >= WANTED.length);
  for (const chain of leaves) {
    const { code, out } = await run(PROGRAM, [...chain.split(" "), "--help"]);
    t.equal(code, 0, chain);
    t.match(out, /\nExamples?:\n {2}(?:[A-Z_]+=\S+ )*tessera /, `${chain}: an example`);
    const options = [...out.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, option]) => option!);
    for (const option of options) t.ok(bash.get(chain)!.includes(option), `${chain} ${option}`);
    if (!WITHOUT_JSON.test(chain)) t.ok(options.includes("--json"), `${chain} --json`);
  }
});

t.test("commands without a server answer with JSON, too", async (t) => {
  const config = JSON.parse((await run(PROGRAM, ["check-config", "--json"])).out);
  t.match(config["data.dir"], { value: join(folder, "data"), source: /TESSERA_DATA_DIR/ });
  t.match(JSON.parse((await run(PROGRAM, ["upgrade", "--check", "--json"])).out), { format: null, has_copy: false });
  const refused = await run(PROGRAM, ["accept-loss", "everything", "--json"]);
  t.equal(refused.code, 1);
  t.match(JSON.parse(refused.err), { error: { message: /neither the number of a partition/ } });
  const nobody = await run(PROGRAM, ["reset-password", "--json"]);
  t.match([nobody.code, JSON.parse(nobody.err)], [1, { error: { code: String, message: /installation/ } }]);
  const unreachable = await run(PROGRAM, ["diagnostics", "--json", "--url", "http://127.0.0.1:1"]);
  t.match([unreachable.code, JSON.parse(unreachable.err)], [1, { error: { message: /TESSERA_TOKEN/ } }]);
});

t.test("wrong usage ends with 2, help with 0", async (t) => {
  for (const args of [
    ["nothing"],
    ["sql", "--nothing"],
    ["upgrade", "--nothing"],
    ["users"],
    ["accept-loss"],
    ["import"],
  ]) {
    t.equal((await run(PROGRAM, args)).code, 2, args.join(" "));
  }
  for (const args of [[], ["help"], ["--help"], ["help", "sql"], ["--version"], ["users", "--help"]]) {
    t.equal((await run(PROGRAM, args)).code, 0, args.join(" "));
  }
});
