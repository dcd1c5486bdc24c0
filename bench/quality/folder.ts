/**
 * Chats over a folder of 200 documents on a server without a provider: is the sentence quoted that answers, with its
 * file, and nothing where the documents do not say it? For `make quality`.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROUTE, ready, TestFolder } from "../../test/e2e/filesystem-folder.js";
import { TestServer } from "../../test/e2e/server.js";
import { ROOT } from "../servers.js";
import { folderDocuments } from "./folder-documents.js";

/** Null: the documents do not answer it. */
interface FolderQuestion {
  readonly question: string;
  readonly answer: string | null;
  readonly file: string | null;
}

export interface AskedOfFolder extends FolderQuestion {
  /** Answers are never changed by looking at these. */
  readonly isHeldBack: boolean;
  readonly outcome: "right" | "refused" | "wrong";
  readonly said: string;
}

/** Documents written by hand, and the questions over them and the others. */
export const FOLDERS = {
  first: ["written.json", "questions.json"],
  second: ["second-written.json", "second-questions.json"],
  third: ["third-written.json", "third-questions.json"],
  /** Letters, minutes and manuals; held back as a whole. */
  fourth: ["fourth-written.json", "fourth-questions.json"],
} as const;

export async function askFolder(which: keyof typeof FOLDERS): Promise<AskedOfFolder[]> {
  const [written, asking] = FOLDERS[which];
  const questions: FolderQuestion[] = JSON.parse(readFileSync(join(ROOT, "test/quality/folder", asking), "utf8"));
  const folder = new TestFolder();
  const server = await TestServer.start({ TESSERA_FILES_ROOTS: folder.root });
  try {
    for (const [path, text] of Object.entries(folderDocuments(written))) folder.put(path, text);
    const made = await server.expect(201, "POST", ROUTE, { name: "docs", watch_dir: folder.root, embed_text: true });
    await ready(server, made.body.data.id);
    const { session_id } = (await server.expect(201, "POST", "/v1/ai/sessions", { collections: ["docs"] })).body;
    const asked: AskedOfFolder[] = [];
    for (const { question, answer, file } of questions) {
      const { body } = await server.expect(200, "POST", "/v1/ai/chat", { session_id, content: question });
      const { content, citations } = body.data;
      const cited = citations.find((citation: { cited?: boolean }) => citation.cited === true);
      const isRight = cited !== undefined && answer !== null && content.includes(answer) && cited.file === file;
      const outcome = cited === undefined ? "refused" : isRight ? "right" : "wrong";
      const isHeldBack = which === "fourth" || createHash("sha256").update(question).digest()[0]! % 2 === 1;
      asked.push({ question, answer, file, isHeldBack, outcome, said: content });
    }
    return asked;
  } finally {
    await server.stop();
    folder.end();
  }
}
