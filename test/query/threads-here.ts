/** Threads that read for statements, for tests: their work is done in this thread, of copies. */
import { DbError } from "../../src/protocol/errors.js";
import { readInThread } from "../../src/query/exec/threads/read-in-thread.js";
import type { ReadAnswer, Reading, ReadJob, ReadThreads } from "../../src/query/exec/threads/read-threads.js";

export class ThreadsHere implements ReadThreads {
  isReady = true;
  started = 0;
  /** So many wait that no more are taken. */
  isFull = false;
  /** Threads have no time for what is asked for now. */
  begins = true;
  withdrawn = 0;
  /** Of each job. */
  millisMax = 1e9;
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

  read(job: ReadJob): Reading {
    this.jobs.push(job);
    if (this.isFull) {
      const error = new DbError("overloaded", "Too many long computations are waiting; retry shortly.");
      return { answer: Promise.reject(error), withdraw: () => false };
    }
    if (!this.begins) {
      let reject = (_: Error): void => undefined;
      const answer = new Promise<ReadAnswer>((_, rejected) => {
        reject = rejected;
      });
      const withdraw = () => {
        reject(new Error("the job was withdrawn"));
        this.withdrawn++;
        return true;
      };
      return { answer, withdraw };
    }
    return { answer: this.work(job), withdraw: () => false };
  }

  private async work(job: ReadJob): Promise<ReadAnswer> {
    const sent = { ...structuredClone(job), millisMax: this.millisMax };
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
