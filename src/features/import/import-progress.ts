/** What an import tells its client while it runs, and in the end. Used by the routes of imports. */
import type { ReplySink } from "../../actor/reply-sink.js";
import type { Request } from "../../actor/request.js";
import { type Answer, STREAMED } from "../../session/answer.js";
import type { Transaction } from "../../storage/store.js";

/** Milliseconds between two words of progress. */
const PROGRESS_MS = 250;

/** Words of progress while an import runs, to a client that reads them: a JSON object a line, or server-sent events. */
export class ImportProgress {
  private toldMs = performance.now();

  private constructor(
    private readonly sink: ReplySink,
    private readonly frame: (json: string) => string,
  ) {
    sink.errorText = frame;
  }

  /** Null when the client wants one answer at the end. */
  static async open(request: Request, accept: string): Promise<ImportProgress | null> {
    if (accept.includes("text/event-stream")) {
      const sink = await request.openReply("text/event-stream", ["Cache-Control: no-store"]);
      return new ImportProgress(sink, (json) => `data: ${json}\n\n`);
    }
    if (!accept.includes("application/x-ndjson")) return null;
    return new ImportProgress(await request.openReply("application/x-ndjson", []), (json) => `${json}\n`);
  }

  tell(progress: object): void | Promise<void> {
    const now = performance.now();
    if (now - this.toldMs < PROGRESS_MS) return;
    this.toldMs = now;
    return this.sink.write(Buffer.from(this.frame(JSON.stringify({ progress }))));
  }

  end(result: unknown): void {
    void this.sink.write(Buffer.from(this.frame(JSON.stringify({ data: result }))));
    this.sink.end();
  }
}

/** Runs an import that commits once. What it commits with is the answer, or the last word of a stream of progress. */
export async function importAnswer<T>(
  request: Request,
  run: (progress: ImportProgress | null, commit: (tx: Transaction, answer: Answer<T>) => void) => Promise<unknown>,
): Promise<Answer<T>> {
  const [accept = ""] = request.head.media;
  const progress = await ImportProgress.open(request, accept);
  let answer: Answer<T> = {};
  await run(progress, (tx, made) => {
    answer = made;
    request.commit(tx, made);
  });
  if (progress === null) return answer;
  await request.durable();
  progress.end(answer.plain);
  return STREAMED;
}
