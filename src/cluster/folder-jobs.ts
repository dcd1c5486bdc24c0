/** What a node and its process for a shared folder (folder-process.ts) say to each other. */
import { stat } from "node:fs/promises";
import { DbError } from "../protocol/errors.js";
import { FolderStore } from "./folder-store.js";

/** `name`: of an object, or what the names to list begin with. `path`: of a file of this machine. */
export type FolderJob =
  | { readonly kind: "put" | "get"; readonly name: string; readonly path: string }
  | { readonly kind: "list" | "delete" | "check"; readonly name: string };

export interface FolderQuestion {
  readonly id: number;
  readonly root: string;
  readonly job: FolderJob;
}

export interface FolderAnswer {
  readonly id: number;
  readonly names?: readonly string[];
  readonly error?: string;
  readonly isMissing?: boolean;
}

export async function answerFolderQuestion({ id, root, job }: FolderQuestion): Promise<FolderAnswer> {
  try {
    const names = await done(root, job);
    return { id, ...(names !== null && { names }) };
  } catch (error) {
    const isMissing = error instanceof DbError && error.code === "not_found";
    return { id, isMissing, error: error instanceof Error ? error.message : String(error) };
  }
}

async function done(root: string, job: FolderJob): Promise<readonly string[] | null> {
  const store = new FolderStore(root);
  const { kind, name } = job;
  if (kind === "list") return store.list(name);
  if (kind === "put") await store.put(name, job);
  else if (kind === "get") await store.get(name, job.path);
  else if (kind === "delete") await store.delete(name);
  else if (!(await isDirectory(root))) throw new DbError("not_found", `${root} does not exist.`);
  return null;
}

async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw error;
  });
  return found?.isDirectory() ?? false;
}
