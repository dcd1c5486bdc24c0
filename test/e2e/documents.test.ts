/**
 * Every example of the README and the guide is run by bash, as a reader would paste it, one page after the other
 * against one new server, so no two pages may make a table of the same name. test/docs/document-examples.ts says what
 * an example is.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import t, { type Test } from "tap";
import { type Example, errorsIn, examplesOf, scriptOf } from "../docs/document-examples.js";
import { ADMIN_PASSWORD, PROGRAM, TestServer } from "./server.js";

const ROOT = new URL("../../../", import.meta.url).pathname;
const GUIDE = "docs/guide";
/** The index has links only. */
const WITHOUT_EXAMPLES = ["README"];

interface Page {
  readonly name: string;
  readonly examples: readonly Example[];
}

/** PAGES="sql graph" runs those alone. */
function pages(): Page[] {
  const wanted = process.env.PAGES?.split(" ");
  const names = readdirSync(join(ROOT, GUIDE)).map((file) => file.replace(/\.md$/, ""));
  const all = [
    { name: "README.md", file: "README.md" },
    ...names.filter((name) => !WITHOUT_EXAMPLES.includes(name)).map((name) => ({ name, file: `${GUIDE}/${name}.md` })),
  ];
  return all
    .filter(({ name }) => wanted === undefined || wanted.includes(name))
    .map(({ name, file }) => ({ name, examples: examplesOf(readFileSync(join(ROOT, file), "utf8")) }));
}

function setupOfGuide(): Example {
  const setup = examplesOf(readFileSync(join(ROOT, GUIDE, "start.md"), "utf8")).filter(({ isSetup }) => isSetup);
  if (setup.length !== 1) throw new Error("start.md needs one block that is marked as setup");
  return setup[0]!;
}

/** The setup's address and password are those of a fresh installation on its usual port. */
function setupFor(setup: Example, url: string): string {
  return setup.code.replaceAll("http://127.0.0.1:8080", url).replaceAll("correct-horse", `'${ADMIN_PASSWORD}'`);
}

/** Runs a page's examples in one shell; gives what each printed, and what the shell complained about. */
async function run(scripts: readonly string[], cwd: string): Promise<{ printed: string[]; complaints: string }> {
  const script = scripts.map((part, i) => `printf '\\n==== ${i}\\n'\n${part}`).join("\n");
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("TESSERA_")));
  const bash = spawn("bash", ["-u"], { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
  bash.stdin.end(script);
  const [written, complaints] = await Promise.all([text(bash.stdout), text(bash.stderr)]);
  return { printed: written.split(/\n==== \d+\n/).slice(1), complaints };
}

t.setTimeout(290_000);

const canRun = spawnSync("curl", ["--version"]).status === 0;
/** A folder that the server may read: the page on files makes its own inside. */
const files = mkdtempSync(join(tmpdir(), "tessera-guide-files-"));
t.teardown(() => rmSync(files, { recursive: true, force: true }));

t.test("the examples of the documents", { skip: canRun ? false : "the examples need curl" }, async (t) => {
  const server = await TestServer.start({
    TESSERA_ACTORS: "1",
    TESSERA_NLI_ENABLED: "true",
    TESSERA_FILES_ROOTS: files,
  });
  t.teardown(() => server.stop());
  const setup = setupOfGuide();
  for (const page of pages()) await t.test(page.name, (t) => checkPage(t, page, setup, server));
});

async function checkPage(t: Test, page: Page, setup: Example, server: TestServer): Promise<void> {
  const cwd = mkdtempSync(join(tmpdir(), "tessera-guide-"));
  t.teardown(() => rmSync(cwd, { recursive: true }));
  symlinkSync(join(ROOT, "bin"), join(cwd, "bin"));
  symlinkSync(join(ROOT, "clients"), join(cwd, "clients"));
  symlinkSync(PROGRAM, join(cwd, "tessera"));
  const running = page.examples.filter(({ notRun, isSetup }) => notRun === null && !isSetup);
  const own = page.examples.find(({ isSetup }) => isSetup) ?? setup;
  const scripts = running.map((example) => scriptOf(example).replaceAll("/srv/documents", files));
  t.ok(running.length > 0, "the page has an example that runs");
  t.ok(
    running.some(({ expected }) => expected.length > 0),
    "some example says what it prints",
  );
  const { printed, complaints } = await run([setupFor(own, server.url), ...scripts], cwd);
  t.equal(complaints, "", "nothing on the standard error");
  for (const [i, { line, expected }] of running.entries()) {
    const output = printed[i + 1] ?? "";
    const where = `the example in line ${line}`;
    const extra = { printed: output.slice(0, 2000) };
    const missing = expected.filter((answer) => !output.includes(answer));
    t.same(missing, [], `${where} prints what it says`, extra);
    const unannounced = errorsIn(output).filter((code) => !expected.some((answer) => answer.includes(code)));
    t.same(unannounced, [], `${where} answers no error that the page does not announce`, extra);
  }
}
