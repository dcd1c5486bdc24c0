/** The rules of the house that no other tool checks: lengths, names, and comments and documents that tell the truth. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import t from "tap";
import {
  ACTOR_FILES,
  COLUMNS,
  COMPONENT_LINES,
  DOCUMENT_LINES,
  EXCEPTIONS,
  FILE_LINES,
  FUNCTION_LINES,
  PAGE_WORDS,
  PHRASES,
} from "./tidy-rules.js";

interface Source {
  readonly path: string;
  readonly lines: readonly string[];
}

const ROOT = new URL("../../", import.meta.url).pathname;
const SOURCE = /\.(tsx?|mjs|cjs)$/;

const sources = readAll(["src", "workers", "console", "clients", "test", "bench", "scripts"], SOURCE);
const product = sources.filter(({ path }) => /^(src|workers|console|clients)\//.test(path));
const styles = readAll(["console"], /\.css$/);
const documents = [...readAll(["docs"], /\.md$/), ...readAll(["."], /^[A-Z]+\.md$/)];

function readAll(folders: readonly string[], name: RegExp): Source[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: folder !== ".", encoding: "utf8" })
      .filter((file) => name.test(file) && !/node_modules|fixtures|\/results\/|(^|\/)dist\//.test(file))
      .map((file) => join(folder, file))
      .map((path) => ({ path, lines: readFileSync(join(ROOT, path), "utf8").replace(/\n$/, "").split("\n") })),
  );
}

/** Every way to name a file by the end of its path. */
const suffixes = new Set(
  [...sources, ...documents, ...readAll(["."], SOURCE), ...readAll(["bench", "models"], /\.md$/)].flatMap(
    ({ path }) => {
      const parts = path.split("/");
      return parts.map((_, i) => parts.slice(i).join("/"));
    },
  ),
);

/**
 * The comments of a source: the number of the line (from 1) and its text. A comment begins a line, as biome's format
 * has it.
 */
function commentsOf({ lines }: Source): { line: number; text: string }[] {
  const found: { line: number; text: string }[] = [];
  let isInside = false;
  for (const [i, text] of lines.entries()) {
    const begins = /^\s*\/\*/.test(text);
    if (isInside || begins || /^\s*\/\//.test(text)) found.push({ line: i + 1, text });
    if (begins) isInside = true;
    if (isInside && text.includes("*/")) isInside = false;
  }
  return found;
}

t.test("the actor's room stays small: what is about bodies, sessions or features has rooms of its own", async (t) => {
  const files = product.filter(({ path }) => path.startsWith("src/actor/"));
  t.ok(files.length > 20 && files.length <= ACTOR_FILES, `${files.length} files`);
});

/** What is not on the list of exceptions, and exceptions that are not needed any more. */
function compare(rule: keyof typeof EXCEPTIONS, found: ReadonlyMap<string, string>): string[] {
  const allowed: Readonly<Record<string, string>> = EXCEPTIONS[rule];
  const broken = [...found].filter(([key]) => allowed[key] === undefined).map(([, message]) => message);
  const stale = Object.keys(allowed).filter((key) => !found.has(key));
  return [...broken, ...stale.map((key) => `test/tidy-rules.ts: the exception "${key}" (${rule}) is not needed`)];
}

t.test("comments keep to the line length", async (t) => {
  const long = sources.flatMap((source) =>
    commentsOf(source)
      .filter(({ text }) => text.length > COLUMNS && !/https?:\/\//.test(text))
      .map(({ line, text }) => [basename(source.path), `${source.path}:${line}: ${text.length} columns`] as const),
  );
  t.same(compare("columns", new Map(long)), []);
});

t.test("files are short", async (t) => {
  const long = [...sources, ...styles].filter(({ lines }) => lines.length > FILE_LINES);
  t.same(
    compare("files", new Map(long.map(({ path, lines }) => [basename(path), `${path}: ${lines.length} lines`]))),
    [],
  );
});

t.test("functions are short", async (t) => {
  const long = product.flatMap((source) => longFunctions(source));
  const found = long.map(({ key, path, line, length }) => [key, `${path}:${line}: ${length} lines (${key})`] as const);
  t.same(compare("functions", new Map(found)), []);
});

const FUNCTION =
  /^(\s*)(?:export )?(?:default )?(?:(?:public|private|protected|static|override|readonly|async|function\*?|get|set|\*) ?)*(?:const |let )?#?(\w+)\s*(?:<.*>)?(?:: [^=]*)?(?: = (?:async )?(?:<.*>)?)?\(/;
const KEYWORDS = new Set([
  "if",
  "for",
  "while",
  "switch",
  "catch",
  "return",
  "super",
  "new",
  "await",
  "throw",
  "import",
]);

interface LongFunction {
  readonly key: string;
  readonly path: string;
  readonly line: number;
  readonly length: number;
}

/**
 * Functions and methods with a body, by the format's indentation: a body ends at the first line of the same depth that
 * begins with a brace. What stands between begins deeper, but for text in template literals.
 */
function longFunctions({ path, lines }: Source): LongFunction[] {
  const long: LongFunction[] = [];
  for (let i = 0; i < lines.length; i++) {
    const match = FUNCTION.exec(lines[i]!);
    if (match === null || KEYWORDS.has(match[2]!)) continue;
    const [, indent, name] = match;
    // Parameters that take several lines end at the depth where the function begins.
    const isLong = lines[i]!.endsWith("(");
    const head = isLong ? lines.findIndex((line, at) => at > i && line.startsWith(`${indent})`)) : i;
    if (!lines[head]?.endsWith("{")) continue;
    const end = lines.findIndex((line, at) => at > head && line.startsWith(`${indent}}`));
    const length = end - i + 1;
    if (length > (path.endsWith(".tsx") ? COMPONENT_LINES : FUNCTION_LINES))
      long.push({ key: `${basename(path)} ${name}`, path, line: i + 1, length });
  }
  return long;
}

t.test("a name is exported once in a folder", async (t) => {
  const EXPORT =
    /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|const|let|interface|type|enum) (\w+)/;
  const places = new Map<string, Set<string>>();
  for (const { path, lines } of product) {
    for (const line of lines) {
      const name = EXPORT.exec(line)?.[1];
      if (name === undefined) continue;
      const key = `${dirname(path)} ${name}`;
      places.set(key, (places.get(key) ?? new Set()).add(path));
    }
  }
  const twice = [...places].filter(([, paths]) => paths.size > 1);
  const found = twice.map(([key, paths]) => [basename(key), `${basename(key)}: ${[...paths].join(", ")}`] as const);
  t.same(compare("names", new Map(found)), []);
});

// The tool that checks the rules between rooms does not read TSX.
t.test("the console imports itself, the client and its libraries", async (t) => {
  const ALLOWED = [/^clients\/typescript\/src\/index\.js$/, /^console\/src\//];
  const PACKAGES = /^(?:preact(?:\/hooks)?|@codemirror\/[\w-]+|@lezer\/highlight|d3-force|hyparquet)$/;
  const IMPORT = /(?:\bfrom |\bimport\(|^import )"([^"]+)"/g;
  const wrong = sources
    .filter(({ path }) => path.startsWith("console/src/"))
    .flatMap(({ path, lines }) =>
      [...lines.join("\n").matchAll(IMPORT)]
        .map(([, named]) => ({ path, named: named! }))
        .filter(({ named }) => {
          if (!named.startsWith(".")) return !PACKAGES.test(named);
          return !ALLOWED.some((allowed) => allowed.test(join(dirname(path), named)));
        }),
    );
  t.same(wrong, []);
  t.ok(sources.some(({ path }) => path.startsWith("console/src/")));
});

t.test("files that comments and documents name exist", async (t) => {
  const PATH = /(?<![\w/.*$}>-])((?:\.{1,2}\/)?(?:[\w.-]+\/)*[\w-][\w.-]*\.(?:ts|mjs|cjs|md))\b(?![\w*/])/g;
  const exists = (path: string, named: string): boolean =>
    suffixes.has(named.replace(/^(\.{1,2}\/)+/, "")) || existsSync(join(ROOT, dirname(path), named));
  const missing = new Map<string, string>();
  const texts = [
    ...sources.map((source) => ({ path: source.path, texts: commentsOf(source) })),
    ...documents.map(({ path, lines }) => ({ path, texts: lines.map((text, i) => ({ line: i + 1, text })) })),
  ];
  for (const { path, texts: list } of texts) {
    for (const { line, text } of list) {
      for (const [, named] of text.replace(/https?:\/\/\S+/g, "").matchAll(PATH)) {
        if (!exists(path, named!)) missing.set(`${basename(path)} ${named}`, `${path}:${line}: there is no ${named}`);
      }
    }
  }
  t.same(compare("paths", missing), []);
});

t.test("private members are written in one way", async (t) => {
  const found = sources.filter(({ lines }) => lines.some((line) => /\bthis\.#\w/.test(line))).map(({ path }) => path);
  t.same(
    found.filter((path) => !path.startsWith("test/tidy")),
    [],
    "`private`, not #",
  );
});

t.test("documents are plain", async (t) => {
  const found = new Map<string, string>();
  const commented = sources.map((source) => ({ path: source.path, lines: commentsOf(source).map(({ text }) => text) }));
  for (const { path, lines } of [...documents, ...commented.filter(({ path }) => !path.startsWith("test/tidy"))]) {
    const text = lines.map((line) => line.replace(/^\s*(\/\*\*?|\*\/?|\/\/)/, "")).join(" ");
    const plain = text.replace(/\s+/g, " ");
    for (const phrase of PHRASES)
      if (plain.includes(phrase)) found.set(`${basename(path)} ${phrase}`, `${path}: "${phrase}"`);
  }
  t.same(compare("phrases", found), []);
});

t.test("documents are short", async (t) => {
  const pages = documents.filter(({ path }) => path.startsWith("docs/architecture/"));
  const words = (lines: readonly string[]) => lines.join("\n").split(/\s+/).filter(Boolean).length;
  const long = pages.filter(({ lines }) => words(lines) > PAGE_WORDS);
  t.ok(pages.length > 20);
  t.same(
    long.map(({ path, lines }) => `${path}: ${words(lines)} words, at most ${PAGE_WORDS}`),
    [],
  );
  for (const [path, most] of Object.entries(DOCUMENT_LINES)) {
    const { lines } = documents.find((document) => document.path === path)!;
    t.ok(lines.length <= most, `${path}: ${lines.length} lines, at most ${most}`);
  }
});
