/**
 * The compiled code that the build made (workers/load-program.ts): threads use it, and do without it where it is not
 * what it should be. V8 would end the process.
 */
import { isAscii } from "node:buffer";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import t from "tap";
import { PROGRAM, TestServer } from "./server.js";

const ROOT = dirname(dirname(PROGRAM));
const SERVER = join("dist", "server");
const SAYING = { TESSERA_ACTORS: "1", NODE_DEBUG: "tessera" };
const IN_PLACE = [
  "node_modules",
  "config",
  "models",
  "recipes",
  "package.json",
  join("dist", "src"),
  join(SERVER, "docs"),
  join(SERVER, "console"),
];

/** What the threads of each kind said about their code. */
function said(server: TestServer): Record<string, string[]> {
  const all: Record<string, string[]> = {};
  for (const [, kind, text] of server.lines.join("\n").matchAll(/^TESSERA \d+: ([a-z-]+)-[0-9a-f]+\.cjs: (.*)$/gm)) {
    all[kind!] = [...(all[kind!] ?? []), text!];
  }
  return all;
}

async function answers(server: TestServer): Promise<boolean> {
  return (await server.call("GET", "/health")).status === 200;
}

t.test("threads that start with the server use the build's code, and so do later ones", async (t) => {
  const server = await TestServer.start(SAYING);
  t.teardown(() => server.stop());
  // A task thread is started for it, after V8's flags were changed.
  const user = { username: "späte", password: "ein längeres Wort", roles: ["user"] };
  t.equal((await server.call("POST", "/admin/tenants/system/users", user)).status, 201);
  t.equal(await server.terminate(), 0);
  t.same(said(server), { main: ["the code is used"], actor: ["the code is used"], task: ["the code is used"] });
});

t.test("the scripts are ASCII, as they are read", async (t) => {
  const scripts = readdirSync(join(ROOT, SERVER)).filter((name) => name.endsWith(".cjs"));
  t.ok(scripts.length >= 9);
  for (const name of scripts) {
    t.ok(isAscii(readFileSync(join(ROOT, SERVER, name))), name);
  }
});

t.test("code that is not what it should be is not used", async (t) => {
  const root = t.testdir();
  copyProgram(root);
  const folder = join(root, SERVER);
  const codes = (kind: string) =>
    readdirSync(folder).filter((name) => name.startsWith(`${kind}-`) && name.endsWith(".code"));
  const change = (kind: string, changed: (code: Buffer) => Uint8Array): void => {
    t.equal(codes(kind).length, 2, `code of ${kind}`);
    for (const name of codes(kind)) writeFileSync(join(folder, name), changed(readFileSync(join(ROOT, SERVER, name))));
  };
  const start = () => TestServer.start(SAYING, undefined, [join(root, "bin", "tessera")]);
  const ends = async (name: string, expected: Record<string, RegExp>): Promise<void> => {
    const server = await start();
    t.ok(await answers(server), name);
    t.equal(await server.terminate(), 0, name);
    t.match(said(server), Object.fromEntries(Object.entries(expected).map(([kind, text]) => [kind, [text]])), name);
    await server.stop();
  };

  change("main", (code) => code.fill(code[code.length >> 1]! ^ 1, code.length >> 1, (code.length >> 1) + 1));
  change("actor", (code) => code.subarray(0, code.length >> 1));
  await ends("a bit is wrong, half is missing", { main: /^the code is damaged$/, actor: /^the code is damaged$/ });

  const [other] = codes("task");
  change("main", () => readFileSync(join(ROOT, SERVER, other!)));
  change("actor", () => new Uint8Array(0));
  await ends("another script's, nothing", { main: /^the code is damaged$/, actor: /^the code is damaged$/ });

  for (const name of [...codes("main"), ...codes("actor")]) rmSync(join(folder, name));
  await ends("another version of V8", { main: /^no code: ENOENT/, actor: /^no code: ENOENT/ });
  t.same([codes("main"), codes("actor")], [[], []], "a server writes nothing beside its program");
});

t.test("V8 with other flags does without", async (t) => {
  const server = await TestServer.start({ ...SAYING, TESSERA_NODE_FLAGS: "--max-old-space-size=1000" });
  t.teardown(() => server.stop());
  t.ok(await answers(server));
  t.match(said(server), { main: [/^no code: ENOENT/], actor: [/^no code: ENOENT/] });
});

t.test("traces name lines of the sources where that is asked for", async (t) => {
  const hook = join(t.testdir({ "hook.cjs": HOOK }), "hook.cjs");
  const server = await TestServer.start({ TESSERA_NODE_FLAGS: `--enable-source-maps --require ${hook}` });
  t.teardown(() => server.stop());
  t.match(server.lines.join("\n"), /at .*src\/serve\.ts:\d+:\d+/);
});

/** Prints from where something is printed. */
const HOOK = `const log = console.log;
console.log = (text) => {
  console.error(new Error("printed").stack);
  log(text);
};`;

/** The program with scripts and code of its own. */
function copyProgram(root: string): void {
  mkdirSync(join(root, SERVER), { recursive: true });
  cpSync(join(ROOT, "bin"), join(root, "bin"), { recursive: true });
  for (const name of IN_PLACE) symlinkSync(join(ROOT, name), join(root, name));
  for (const name of readdirSync(join(ROOT, SERVER))) {
    if (/\.(cjs|code)$/.test(name)) copyFileSync(join(ROOT, SERVER, name), join(root, SERVER, name));
  }
}
