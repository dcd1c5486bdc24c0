/**
 * A folder that nodes share, by way of a process of its own (workers/folder.ts). A file system that does not answer, as
 * NFS without its server, never lets go of the thread that asks it, and a process with such a thread does not end. So
 * another process asks: it can be killed, and nobody waits for its end.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { DbError } from "../protocol/errors.js";
import { threadEntry } from "../protocol/places.js";
import type { FolderAnswer, FolderJob, FolderQuestion } from "./folder-jobs.js";
import type { ObjectStore, StoredFile } from "./object-store.js";

/** Of one object, which is some megabytes. */
const ANSWER_MS_MAX = 60_000;
/** A process that was killed is gone at once, unless the file system holds it. */
const END_MS_MAX = 1000;
/** The process ends when it has had nothing to do for so long. */
const IDLE_MS = 60_000;

interface Waiting {
  settle(answer: FolderAnswer): void;
  fail(error: unknown): void;
}

/** What was asked may be done yet. */
export class FolderSilence extends DbError {}

export class FolderProcess implements ObjectStore {
  private child: ChildProcess | null = null;
  private readonly waiting = new Map<number, Waiting>();
  /** All that this thread has to wait for: what ends after the thread stays as a zombie. */
  private readonly alive = new Set<ChildProcess>();
  private idle: NodeJS.Timeout | null = null;
  private nextId = 0;

  constructor(
    private readonly root: string,
    private readonly answerMsMax = ANSWER_MS_MAX,
  ) {}

  async put(name: string, { path }: StoredFile): Promise<void> {
    await this.ask({ kind: "put", name, path });
  }

  async get(name: string, path: string, signal: AbortSignal): Promise<void> {
    await this.ask({ kind: "get", name, path }, signal);
  }

  async list(prefix: string): Promise<readonly string[]> {
    return (await this.ask({ kind: "list", name: prefix })).names ?? [];
  }

  async delete(name: string): Promise<void> {
    await this.ask({ kind: "delete", name });
  }

  /** Throws not_found. */
  async check(): Promise<void> {
    await this.ask({ kind: "check", name: "" });
  }

  /** What is under way fails. To be awaited before the thread ends. */
  async end(): Promise<void> {
    this.abandon(new DbError("shutting_down"));
    const ends = [...this.alive].map((child) => once(child, "exit"));
    if (ends.length === 0) return;
    const waited = new AbortController();
    const late = sleep(END_MS_MAX, undefined, { signal: waited.signal }).catch(() => undefined);
    await Promise.race([Promise.all(ends), late]);
    waited.abort();
  }

  private ask(job: FolderJob, signal?: AbortSignal): Promise<FolderAnswer> {
    signal?.throwIfAborted();
    const id = ++this.nextId;
    const child = this.ready();
    return new Promise<FolderAnswer>((resolve, reject) => {
      // It does not give up by itself what it waits for.
      const giveUp = (error: unknown): void => this.abandon(error);
      const aborted = (): void => giveUp(signal!.reason);
      const timer = setTimeout(() => giveUp(this.silence()), this.answerMsMax);
      signal?.addEventListener("abort", aborted, { once: true });
      const over = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", aborted);
        this.waiting.delete(id);
        this.rest();
      };
      this.waiting.set(id, {
        settle: (answer) => {
          over();
          if (answer.error === undefined) resolve(answer);
          else reject(new DbError(answer.isMissing ? "not_found" : "partition_unavailable", answer.error));
        },
        fail: (error) => {
          over();
          reject(error);
        },
      });
      // One that could not be started, or has ended, says so by an event.
      if (!child.connected) return;
      child.send({ id, root: this.root, job } satisfies FolderQuestion, (error) => {
        if (error !== null && this.child === child) this.abandon(error);
      });
    });
  }

  private silence(): FolderSilence {
    const seconds = this.answerMsMax / 1000;
    return new FolderSilence("partition_unavailable", `The folder ${this.root} has not answered for ${seconds} s.`);
  }

  /** It keeps its thread alive while it is asked for something. */
  private ready(): ChildProcess {
    if (this.idle !== null) clearTimeout(this.idle);
    this.idle = null;
    this.child ??= this.start();
    this.child.ref();
    this.child.channel?.ref();
    return this.child;
  }

  private start(): ChildProcess {
    const child = fork(threadEntry("folder"), { execArgv: [], stdio: ["ignore", "ignore", "ignore", "ipc"] });
    child.on("message", (answer: FolderAnswer) => this.waiting.get(answer.id)?.settle(answer));
    const ended = (why: unknown): void => {
      if (this.child !== child) return;
      const text = `The process that reads and writes ${this.root} ended (${why}).`;
      this.abandon(new DbError("partition_unavailable", text));
    };
    child.on("error", ended);
    if (child.pid !== undefined) this.alive.add(child);
    child.on("exit", (code, signal) => {
      this.alive.delete(child);
      ended(signal ?? code);
    });
    return child;
  }

  private abandon(error: unknown): void {
    const { child } = this;
    this.child = null;
    child?.kill("SIGKILL");
    child?.unref();
    if (child?.connected) child.disconnect();
    for (const { fail } of [...this.waiting.values()]) fail(error);
  }

  private rest(): void {
    const { child } = this;
    if (child === null || this.waiting.size > 0) return;
    child.unref();
    child.channel?.unref();
    this.idle = setTimeout(() => this.abandon(null), IDLE_MS);
    this.idle.unref();
  }
}
