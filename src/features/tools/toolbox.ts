/**
 * All tools, by name, with the check of their arguments. Compiled when the first one is asked for; shared by all
 * tenants of the thread.
 */
import type { TObject, TProperties } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { checked } from "../../bodies/validate.js";
import { AUTOML_TOOLS } from "./automl-tools.js";
import { BRANCH_TOOLS } from "./branch-tools.js";
import { EVALUATION_TOOLS } from "./evaluation-tools.js";
import { MEDIA_TOOLS } from "./media-tools.js";
import { MEMORY_TOOLS } from "./memory-tools.js";
import { QUERY_TOOLS } from "./query-tools.js";
import { RECIPE_TOOLS } from "./recipe-tools.js";
import { SCHEMA_TOOLS } from "./schema-tools.js";
import { SEARCH_TOOLS } from "./search-tools.js";
import { TEXT_TOOLS } from "./text-tools.js";
import type { Tool } from "./tool.js";

export const TOOLS: readonly Tool[] = [
  ...SCHEMA_TOOLS,
  ...QUERY_TOOLS,
  ...SEARCH_TOOLS,
  ...TEXT_TOOLS,
  ...AUTOML_TOOLS,
  ...MEMORY_TOOLS,
  ...MEDIA_TOOLS,
  ...RECIPE_TOOLS,
  ...BRANCH_TOOLS,
  ...EVALUATION_TOOLS,
];

const byName = new Map(TOOLS.map((tool) => [tool.name, tool]));
const checks = new Map<string, Validator<TProperties, TObject>>();

/** Those that a credential may call. */
export function toolsFor(readOnly: boolean): readonly Tool[] {
  return readOnly ? TOOLS.filter(({ forReaders }) => forReaders) : TOOLS;
}

export function findTool(name: string): Tool | null {
  return byName.get(name) ?? null;
}

/**
 * The arguments, without those that are null in place of being left out. Throws invalid_request that names the
 * argument.
 */
export function checkedArguments<T>(tool: Tool, args: T): T {
  let check = checks.get(tool.name);
  if (check === undefined) {
    check = Compile(tool.input);
    checks.set(tool.name, check);
  }
  return checked(check, args, "argument");
}
