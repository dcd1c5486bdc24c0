/**
 * What statements do with filesystem collections on behalf of a request. The request is asked for it by its session's
 * services; folder-functions.ts, which knows requests, provides it.
 */
import type { DeferredContext, FolderChange } from "../../query/expr/expr.js";

export interface FolderTools {
  /** In the statement's transaction. Answers in words what was done. Checks who asks. */
  change(change: FolderChange, context: DeferredContext): Promise<string>;
}

let toolsFor: (client: unknown) => FolderTools = () => {
  throw new Error("nobody provides the tools of folders");
};

/** Once, when the process starts. */
export function provideFolderTools(make: (client: unknown) => FolderTools): void {
  toolsFor = make;
}

export function folderToolsFor(client: unknown): FolderTools {
  return toolsFor(client);
}
