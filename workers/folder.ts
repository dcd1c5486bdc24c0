/**
 * Entry of a process that reads and writes a folder that nodes share (src/cluster/folder-process.ts): messages are
 * questions, which are answered. It ends when its node's thread does, also where the folder does not answer.
 */
import { answerFolderQuestion, type FolderQuestion } from "../src/cluster/folder-jobs.js";

process.on("message", async (question: FolderQuestion) => {
  const answer = await answerFolderQuestion(question);
  if (process.connected) process.send!(answer);
});
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
