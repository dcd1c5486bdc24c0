/**
 * Reads the feature files of openCypher's TCK: as much of Gherkin as they use. The files lie beside the checkout (or
 * where TESSERA_SUITES says) and are no part of the project.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
export const TCK = join(process.env.TESSERA_SUITES ?? join(ROOT, "../shared/suites"), "tck/features");

export const tckPresent = (): boolean => existsSync(TCK);

export interface TckQuery {
  readonly scenario: string;
  readonly text: string;
  /** The error that the step after the query names; null: it runs. */
  readonly error: { readonly type: string; readonly phase: string; readonly detail: string } | null;
  /** What the scenario sets up before, rather than tests. */
  readonly setup: boolean;
  /** Signatures of the procedures that the scenario wants: `my.proc(in :: INTEGER?) :: (out :: STRING?)`. */
  readonly procedures: readonly string[];
  /** Names of the parameters that come with the query. */
  readonly parameters: readonly string[];
}

interface Step {
  text: string;
  doc: string | null;
  /** The first cells of the rows of its table. */
  names: string[];
}

/** Every query of every scenario; outlines are filled in with their examples. */
export function tckQueries(): TckQuery[] {
  return readdirSync(TCK, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".feature"))
    .sort()
    .flatMap((file) => queriesOf(file, readFileSync(join(TCK, file), "utf8").split("\n")));
}

function queriesOf(file: string, lines: readonly string[]): TckQuery[] {
  const queries: TckQuery[] = [];
  let background: Step[] = [];
  let steps: Step[] = [];
  let name = "";
  let examples: string[][] | null = null;
  const finish = () => {
    if (name === "background") background = steps;
    else if (name !== "") {
      const scenario = `${file} ${name}`;
      for (const row of rowsOf(examples))
        queries.push(...queriesOfSteps(scenario, [...background, ...steps].map(filled(row))));
    }
    steps = [];
    examples = null;
  };
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!.trim();
    const title = /^(?:Scenario(?: Outline)?|Background):(.*)$/.exec(line);
    if (title !== null) {
      finish();
      name = line.startsWith("Background") ? "background" : title[1]!.trim();
    } else if (/^Examples:/.test(line)) {
      examples ??= [];
      examples.push([]);
    } else if (/^(Given|When|Then|And|But) /.test(line)) {
      steps.push({ text: line.replace(/^\w+ /, ""), doc: null, names: [] });
    } else if (line === '"""') {
      const indent = lines[i]!.indexOf('"""');
      const doc: string[] = [];
      for (i++; lines[i]!.trim() !== '"""'; i++) doc.push(lines[i]!.replace(new RegExp(`^\\s{0,${indent}}`), ""));
      steps.at(-1)!.doc = doc.join("\n");
    } else if (line.startsWith("|") && examples !== null) {
      examples.at(-1)!.push(line);
    } else if (line.startsWith("|")) {
      steps.at(-1)?.names.push(cells(line)[0]!);
    }
  }
  finish();
  return queries;
}

/** A map of values by column for each row of examples; one empty map without examples. */
function rowsOf(examples: readonly string[][] | null): ReadonlyMap<string, string>[] {
  if (examples === null) return [new Map()];
  return examples.flatMap(([header, ...rows]) =>
    rows.map((row) => new Map(cells(header!).map((column, i) => [column, cells(row)[i]!]))),
  );
}

const cells = (line: string): string[] =>
  line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replace(/\\([\\|n])/g, (_, char: string) => (char === "n" ? "\n" : char)));

const filled =
  (row: ReadonlyMap<string, string>) =>
  ({ text, doc, names }: Step): Step => {
    const fill = (template: string) =>
      template.replace(/<(\w+)>/g, (whole, column: string) => row.get(column) ?? whole);
    return { text: fill(text), doc: doc === null ? null : fill(doc), names };
  };

function queriesOfSteps(scenario: string, steps: readonly Step[]): TckQuery[] {
  const queries: TckQuery[] = [];
  const procedures: string[] = [];
  let parameters: readonly string[] = [];
  for (const { text, doc, names } of steps) {
    const procedure = /^there exists a procedure (.*?):?$/.exec(text);
    if (procedure !== null) procedures.push(procedure[1]!.trim());
    if (/^parameter(s| values) are:$/.test(text)) parameters = names;
    const error = /^an? (\w+) should be raised at (runtime|compile time|any time): (.*)$/.exec(text);
    if (error !== null) {
      const [, type = "", phase = "", detail = ""] = error;
      queries.push({ ...queries.pop()!, error: { type, phase, detail } });
    } else if (doc !== null && /execut(ed|ing)/.test(text)) {
      queries.push({ scenario, text: doc, error: null, setup: text.includes("executed"), procedures, parameters });
    }
  }
  return queries;
}
