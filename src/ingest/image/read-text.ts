/**
 * The words in an image, by Tesseract's LSTM engine (tesseract.js), from files of this installation only: it never
 * reaches for the network. Its engine is a thread of its own below the caller's, started with the first image, used by
 * one image after the other, and let go when idle. It ends with the thread that it was started in.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Worker as ThreadOf } from "node:worker_threads";
import type { Worker } from "tesseract.js";
import { DbError } from "../../protocol/errors.js";
import { greyPng } from "./decode-image.js";

/** Letters below some 20 pixels are not read well, and time grows with pixels. */
const SIDES = { min: 1000, max: 4000 };
const IDLE_MS = 30_000;
/** Of a hundred; what is less sure than this is a texture of a photograph more often than a word. */
const CONFIDENCE_MIN = 45;

export interface ImageText {
  /** Lines as they stand; empty when there are no words. */
  readonly text: string;
  /** Mean over the kept words, 0 to 1. */
  readonly confidence: number;
}

let engine: Promise<Worker> | null = null;
let idle: NodeJS.Timeout | undefined;
let queue: Promise<unknown> = Promise.resolve();

/** Throws as `decodeImage`; DbError `file_timeout` after `timeoutMs`, which also ends the engine. English. */
export function readImageText(bytes: Uint8Array, { timeoutMs }: { readonly timeoutMs: number }): Promise<ImageText> {
  const result = queue.then(async () => {
    clearTimeout(idle);
    const image = await greyPng(bytes, SIDES);
    try {
      return await withDeadline(recognize(image), timeoutMs);
    } catch (error) {
      await releaseImageReader();
      throw error;
    } finally {
      idle = setTimeout(() => void releaseImageReader(), IDLE_MS).unref();
    }
  });
  queue = result.catch(() => undefined);
  return result;
}

/** Ends the engine; the next image starts another. */
export async function releaseImageReader(): Promise<void> {
  const running = engine;
  engine = null;
  clearTimeout(idle);
  await running?.then(
    (worker) => worker.terminate(),
    () => undefined,
  );
}

async function recognize(image: Uint8Array): Promise<ImageText> {
  engine ??= startEngine();
  const worker = await engine;
  const { data } = await worker.recognize(Buffer.from(image), {}, { text: false, blocks: true });
  const lines: string[] = [];
  let confidence = 0;
  let words = 0;
  for (const block of data.blocks ?? []) {
    for (const paragraph of block.paragraphs) {
      for (const line of paragraph.lines) {
        const sure = line.words.filter((word) => word.confidence >= CONFIDENCE_MIN && /[\p{L}\p{N}]/u.test(word.text));
        if (sure.length === 0) continue;
        lines.push(sure.map(({ text }) => text).join(" "));
        words += sure.length;
        confidence += sure.reduce((sum, word) => sum + word.confidence, 0);
      }
      if (lines.length > 0 && lines.at(-1) !== "") lines.push("");
    }
  }
  return { text: lines.join("\n").trim(), confidence: words === 0 ? 0 : confidence / words / 100 };
}

async function startEngine(): Promise<Worker> {
  const require = createRequire(import.meta.url);
  const { createWorker, OEM } = await import("tesseract.js");
  const worker = await createWorker("eng", OEM.LSTM_ONLY, {
    // In Node its core is required from beside this script; nothing is fetched.
    workerPath: require.resolve("tesseract.js/src/worker-script/node/index.js"),
    langPath: join(dirname(require.resolve("@tesseract.js-data/eng/package.json")), "4.0.0_best_int"),
    cacheMethod: "none",
    gzip: true,
    // Without it, an error in its thread is thrown where nobody catches it; `recognize` rejects all the same.
    errorHandler: () => undefined,
  });
  // Neither a process nor a task thread stays for it; while an image is read, the deadline's timer keeps them.
  (worker as unknown as { worker: ThreadOf }).worker.unref();
  return worker;
}

async function withDeadline<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const wait = Math.max(1, Math.min(timeoutMs, 0x7fffffff));
    timer = setTimeout(
      () => reject(new DbError("file_timeout", "Reading the words in the image took too long.")),
      wait,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
