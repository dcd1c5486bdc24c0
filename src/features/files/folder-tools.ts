/**
 * The operations that statements use on filesystem collections on behalf of a request. The session's services ask the
 * request for them; folder-functions.ts, which knows requests, provides them.
 */
import type { DeferredContext, FolderChange } from "../../query/expr/expr.js";

export interface FolderTools {
  /** In the statement's transaction. Returns in words what was done. Checks the caller's rights. */
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
