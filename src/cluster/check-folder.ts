/** Whether the folder of checkpoints (`cluster.checkpoints`) is there when a node starts. */
import { DbError } from "../protocol/errors.js";
import { FolderProcess, FolderSilence } from "./folder-process.js";

const ANSWER_MS_MAX = 15_000;

/**
 * Answers with what the operator has to do before the node can start; null: nothing. A folder that does not answer may
 * do so later, and the node can serve without it: then `warn` is called.
 */
export async function checkFolder(
  place: string,
  warn: (message: string) => void,
  answerMsMax = ANSWER_MS_MAX,
): Promise<string | null> {
  const folder = new FolderProcess(place, answerMsMax);
  try {
    await folder.check();
    return null;
  } catch (error) {
    const text = `cluster.checkpoints: ${(error as Error).message}`;
    if (error instanceof FolderSilence) {
      warn(`${text} No checkpoints are kept or used until it does. Remedy: mount it again.`);
      return null;
    }
    const remedy = error instanceof DbError && error.code === "not_found" ? "make it, or mount it" : "mount it again";
    return `${text} Remedy: ${remedy}.`;
  } finally {
    await folder.end();
  }
}
