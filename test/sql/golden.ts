/**
 * Golden scripts: a file of cases, each an input after `> ` and the output that it must give, parted by empty lines.
 * Run a test with GOLDEN_UPDATE=1 to write the outputs anew; then read the difference before committing it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";

interface Case {
  /** Comment lines, kept as they are. */
  readonly comments: readonly string[];
  readonly input: string;
  readonly output: string;
}

const DIRECTORY = new URL("../../../test/golden/sql/", import.meta.url);

/** `run` gives the output for an input; it must not have empty lines. */
export function runGolden(t: Test, file: string, run: (input: string) => string): void {
  const path = fileURLToPath(new URL(file, DIRECTORY));
  const cases = readFileSync(path, "utf8").split("\n\n").map(parseCase);
  const results = cases.map(({ input }) => (input === "" ? "" : run(input).trimEnd()));
  if (process.env.GOLDEN_UPDATE === "1") {
    writeFileSync(path, `${cases.map((each, i) => printCase({ ...each, output: results[i]! })).join("\n\n")}\n`);
  }
  cases.forEach((each, i) => {
    if (each.input !== "") t.equal(results[i], each.output, each.input);
  });
}

function parseCase(text: string): Case {
  const lines = text.split("\n").filter((line) => line !== "");
  const marked = (mark: string) => lines.filter((line) => line.startsWith(mark));
  return {
    comments: marked("#"),
    input: marked("> ")
      .map((line) => line.slice(2))
      .join("\n"),
    output: lines.filter((line) => !line.startsWith("#") && !line.startsWith("> ")).join("\n"),
  };
}

function printCase({ comments, input, output }: Case): string {
  const lines = input === "" ? [] : input.split("\n").map((line) => `> ${line}`);
  return [...comments, ...lines, ...(output === "" ? [] : [output])].join("\n");
}
