/** What stops a start: every problem of the configuration at once, one a line. Thrown by load-config.ts. */

export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      problems.length === 1 ? problems[0] : `the configuration has ${problems.length} problems:\n${lines(problems)}`,
    );
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** `; did you mean "x"?` when one of the known names is close to the unknown one, else nothing. */
export function didYouMean(unknown: string, known: Iterable<string>): string {
  let nearest = "";
  // A third of the letters may differ; more is no help.
  let nearestDistance = Math.max(1, Math.floor(unknown.length / 3)) + 1;
  for (const name of known) {
    const distance = editDistance(unknown, name);
    if (distance < nearestDistance) {
      nearest = name;
      nearestDistance = distance;
    }
  }
  return nearest === "" ? "" : `; did you mean ${nearest}?`;
}

/** Levenshtein's distance: insertions, deletions and replacements of one character. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}

function lines(problems: readonly string[]): string {
  return problems.map((problem) => `  ${problem}`).join("\n");
}
