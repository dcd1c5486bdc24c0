/** Threads that read for statements, for tests: their work is done in this thread, of copies. */
import { readInThread } from "../../src/query/exec/threads/read-in-thread.js";
import type { ReadAnswer, ReadJob, ReadThreads } from "../../src/query/exec/threads/read-threads.js";

export class ThreadsHere implements ReadThreads {
  isReady = true;
  started = 0;
  readonly jobs: ReadJob[] = [];
  readonly answers: ReadAnswer[] = [];
  /** Before a thread works. */
  beforeWork: () => void | Promise<void> = () => undefined;

  constructor(readonly count: number) {}

  areReady(): boolean {
    return this.isReady;
  }

  start(): void {
    this.started++;
  }

  async read(job: ReadJob): Promise<ReadAnswer> {
    this.jobs.push(job);
    const sent = structuredClone(job);
    await this.beforeWork();
    const answer = structuredClone(await readInThread(sent));
    this.answers.push(answer);
    return answer;
  }

  /** Results that were of use. */
  get taken(): number {
    return this.answers.filter(({ result }) => result.kind !== "none").length;
  }

  /** Why there were none. */
  get reasons(): string[] {
    return this.answers.flatMap(({ result }) => (result.kind === "none" ? [result.why] : []));
  }
}
