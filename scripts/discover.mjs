/**
 * Writes the lists of what is registered by being there: the rules of the optimizer and the dialects of providers. A
 * file that exports one needs no line elsewhere. The lists are *.found.ts beside their folders' files; git ignores
 * them, and the build and the checks write them anew (scripts/build.mjs, package.json).
 */
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const MADE = "/** Written by scripts/discover.mjs at every build. */\n";

export function discover() {
  const rules = exportsOf("src/query/optimize", "Rule");
  write("src/query/optimize/rules.found.ts", [
    'import type { Rule } from "./rule.js";\n',
    ...rules.map(importOf),
    `\nexport const FOUND_RULES: readonly Rule[] = [${rules.map(({ name }) => name).join(", ")}];\n`,
  ]);

  const dialects = exportsOf("src/ai/providers", "Dialect").map((dialect) => ({ ...dialect, kind: kindOf(dialect) }));
  const entries = dialects.map(({ kind, name }) => `${JSON.stringify(kind)}: ${name}`);
  write("src/ai/providers/dialects.found.ts", [
    ...dialects.map(importOf),
    `\nexport const DIALECTS = { ${entries.join(", ")} };\n`,
  ]);
  // The protocol's room imports no other: of a provider it knows the name alone.
  const kinds = dialects.map(({ kind }) => JSON.stringify(kind));
  write("src/protocol/provider-kinds.found.ts", [`export const PROVIDER_KINDS = [${kinds.join(", ")}] as const;\n`]);
}

/** The constants of this type that the folder's files export, in the order of the files' names. */
function exportsOf(folder, type) {
  const declaration = new RegExp(`^export const (\\w+): ${type} = `, "gm");
  const files = readdirSync(folder).filter((file) => file.endsWith(".ts") && !file.endsWith(".found.ts"));
  return files
    .sort()
    .flatMap((file) =>
      [...readFileSync(join(folder, file), "utf8").matchAll(declaration)].map(([, name]) => ({ file, name })),
    );
}

const importOf = ({ file, name }) => `import { ${name} } from "./${file.replace(/\.ts$/, ".js")}";\n`;

function kindOf({ file }) {
  const [, kind] = /^(.+)-dialect\.ts$/.exec(file) ?? [];
  if (kind === undefined) throw new Error(`src/ai/providers/${file}: a dialect's file is <name>-dialect.ts`);
  return kind;
}

/** Only what changed, and at once: builds and checks may run side by side. */
function write(path, lines) {
  const text = MADE + lines.join("");
  try {
    if (readFileSync(path, "utf8") === text) return;
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, path);
}

if (process.argv[1]?.endsWith("discover.mjs")) discover();
