/** The example of docs/guide/cluster.md against the cluster that `make cluster` starts. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import t from "tap";
import { NO_ETCD } from "../cluster/etcd.js";
import { examplesOf } from "./document-examples.js";

t.test("the guide's cluster goes on when a node is killed", { skip: NO_ETCD }, async (t) => {
  const page = readFileSync("docs/guide/cluster.md", "utf8");
  const example = examplesOf(page).find(({ notRun }) => notRun === "it needs the cluster above")!;
  const { TESSERA_ADMIN_PASSWORD: _password, ...env } = process.env;
  const program = spawn(process.execPath, ["scripts/cluster.mjs"], { env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(program, "exit");
  try {
    const said: string[] = [];
    for await (const line of createInterface({ input: program.stdout })) {
      said.push(line);
      if (line.startsWith("export ")) break;
    }
    const script = `${said.at(-1)}\n${example.code}`;
    const { stdout } = await promisify(execFile)("bash", ["-c", script]);
    for (const text of example.expected) t.ok(stdout.includes(text), `${text} in:\n${stdout}\n${said.join("\n")}`);
    t.ok(example.expected.length >= 3);
  } finally {
    program.kill("SIGINT");
    await ended;
  }
});
