/**
 * Long conversations whose facts change: what rules take from them, what is recalled of them, now and as of a time
 * (test/quality/memory/*-conversations.txt). Rules are never changed by looking at the held-back half.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestServer } from "../../test/e2e/server.js";
import { ROOT } from "../servers.js";

/** Memories that a question recalls. */
const RECALLED = 5;

export type MemoryQuestionKind = "now" | "as of a date" | "never said";

export interface AskedMemory {
  readonly kind: MemoryQuestionKind;
  readonly question: string;
  /** wrong: it recalls what did not hold, or was never said; missed: it recalls neither. */
  readonly outcome: "right" | "wrong" | "missed";
  readonly recalled: readonly string[];
}

interface Conversation {
  readonly name: string;
  readonly messages: { role: string; content: string; at: string }[];
  readonly questions: { question: string; asOf: string; answer: string; traps: string[] }[];
}

/** Asks about every so many of the conversations. */
export async function measureMemories(
  server: TestServer,
  set: "seen" | "held-back",
  every = 1,
): Promise<AskedMemory[]> {
  const asked: AskedMemory[] = [];
  for (const { name, messages, questions } of conversationsOf(set).filter((_, i) => i % every === 0)) {
    const path = `/v1/ai/memory/${name}`;
    // One session after the other, as they come.
    for (const at of new Set(messages.map((message) => message.at))) {
      const session = messages.filter((message) => message.at === at);
      await server.expect(200, "POST", `${path}/extract`, { messages: session, method: "rules" });
    }
    for (const { question, asOf, answer, traps } of questions) {
      const body = { query: question, k: RECALLED, ...(asOf !== "" && { as_of: asOf }) };
      const reply = await server.expect(200, "POST", `${path}/recall`, body);
      const recalled: string[] = reply.body.data.memories.map(({ content }: { content: string }) => content);
      const has = (words: string) => recalled.some((text) => text.toLowerCase().includes(words.toLowerCase()));
      // That something ended is no claim that it holds.
      const isClaimed = (trap: string) =>
        recalled.some((text) => text.toLowerCase().includes(trap.toLowerCase()) && !/\bno longer\b/.test(text));
      const isRight = answer === "-" || has(answer);
      asked.push({
        kind: answer === "-" ? "never said" : asOf === "" ? "now" : "as of a date",
        question,
        outcome: traps.some(isClaimed) ? "wrong" : isRight ? "right" : "missed",
        recalled,
      });
    }
  }
  return asked;
}

function conversationsOf(set: string): Conversation[] {
  const conversations: Conversation[] = [];
  let at = "";
  const text = readFileSync(join(ROOT, `test/quality/memory/${set}-conversations.txt`), "utf8");
  for (const line of text.trimEnd().split("\n")) {
    const [mark, rest] = [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)];
    if (mark === "#") conversations.push({ name: rest, messages: [], questions: [] });
    const { messages, questions } = conversations.at(-1)!;
    if (mark === "@") at = rest;
    if (mark === "U:" || mark === "A:") {
      messages.push({ role: mark === "U:" ? "user" : "assistant", content: rest, at });
    }
    if (mark !== "?") continue;
    const [question, asOf, answer, traps] = rest.split("|").map((part) => part.trim());
    questions.push({ question: question!, asOf: asOf!, answer: answer!, traps: traps!.split("; ") });
  }
  return conversations;
}
