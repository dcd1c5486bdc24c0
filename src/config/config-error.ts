/**
 * The error that stops a start: every problem of the configuration at once, one a line. Thrown by load-config.ts.
 */
import { nearestName } from "../protocol/nearest-name.js";

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
  const nearest = nearestName(unknown, known);
  return nearest === null ? "" : `; did you mean ${nearest}?`;
}

function lines(problems: readonly string[]): string {
  return problems.map((problem) => `  ${problem}`).join("\n");
}
