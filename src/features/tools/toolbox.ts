/**
 * All tools, by name, with the check of their arguments. Compiled when the first one is asked for; shared by all tenants
 * of the thread.
 */
import type { TObject, TProperties } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { checked } from "../../actor/validate.js";
import { describeModel, listModelsTool, predictTool, trainModel } from "./automl-tools.js";
import { describeImageTool, searchMediaTool } from "./media-tools.js";
import { memoryForget, memoryRecall, memoryStore } from "./memory-tools.js";
import { cypher, execute, graphQuery, query, validateQuery } from "./query-tools.js";
import { listRecipesTool, runRecipeTool } from "./recipe-tools.js";
import { describeTable, listTables, sqlManual } from "./schema-tools.js";
import { embedText, ragSearch, semanticSearch } from "./search-tools.js";
import { generateTextTool } from "./text-tools.js";
import type { Tool } from "./tool.js";

export const TOOLS: readonly Tool[] = [
  listTables,
  describeTable,
  query,
  execute,
  validateQuery,
  sqlManual,
  semanticSearch,
  ragSearch,
  embedText,
  graphQuery,
  cypher,
  generateTextTool,
  trainModel,
  predictTool,
  listModelsTool,
  describeModel,
  memoryStore,
  memoryRecall,
  memoryForget,
  describeImageTool,
  searchMediaTool,
  listRecipesTool,
  runRecipeTool,
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

/** The arguments, without those that are null in place of being left out. Throws invalid_request that names the argument. */
export function checkedArguments<T>(tool: Tool, args: T): T {
  let check = checks.get(tool.name);
  if (check === undefined) {
    check = Compile(tool.input);
    checks.set(tool.name, check);
  }
  return checked(check, args, "argument");
}
