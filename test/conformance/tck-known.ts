/** The scenarios of the TCK that are known to fail, with their reasons: test/conformance/known/tck.txt. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const LIST = new URL("../../../test/conformance/known/tck.txt", import.meta.url).pathname;
const REASON = " => ";

export function knownScenarios(): ReadonlySet<string> {
  if (!existsSync(LIST)) return new Set();
  const lines = readFileSync(LIST, "utf8").split("\n");
  return new Set(lines.filter((line) => line.includes(REASON)).map((line) => line.slice(0, line.indexOf(REASON))));
}

export function writeKnownScenarios(failures: ReadonlyMap<string, string>): void {
  const head = "# Scenarios that fail, with the reason. Written by: UPDATE=1 make conformance-cypher";
  const lines = [...failures].map(([scenario, why]) => `${scenario}${REASON}${why}`);
  writeFileSync(LIST, `${[head, ...lines].join("\n")}\n`);
}
