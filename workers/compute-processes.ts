/**
 * Where an actor has functions applied to large values, which cannot give way: a process of its own, started with the
 * first such call. A process and no thread, because a thread that runs out of memory ends all of them. One call at a
 * time; others wait. Called by actor.ts.
 */
import { type ChildProcess, fork } from "node:child_process";
import { DbError, sqlError } from "../src/protocol/errors.js";
import { threadEntry } from "../src/protocol/places.js";
import type { Computed, ComputeJob } from "../src/query/expr/compute-elsewhere.js";
import { Assembly, type SmallMessage, smallMessages } from "../src/query/expr/sent-pieces.js";
import type { LongTasks } from "../src/session/long-tasks.js";

/** Calls that wait for the process; more are refused. */
const WAITING_MAX = 64;
/** Of a call: its arguments, what it makes of them, and its value. */
const HEAP_MIB = 1024;
/** The process ends when it has had nothing to do for so long. */
const IDLE_MS = 60_000;

interface Call {
  readonly job: ComputeJob;
  readonly signal: AbortSignal;
  resolve(applied: Computed): void;
  reject(error: unknown): void;
}

export type ComputeProcesses = Pick<LongTasks, "compute"> & {
  /** Ends what runs. */
  end(): void;
};

export function computeProcesses(): ComputeProcesses {
  const calls = new Calls();
  return {
    compute: (job, signal) => calls.add(job, signal),
    end: () => calls.end(),
  };
}

class Calls {
  private readonly waiting: Call[] = [];
  private current: Call | null = null;
  private process: ChildProcess | null = null;
  private idle: NodeJS.Timeout | null = null;

  add(job: ComputeJob, signal: AbortSignal): Promise<Computed> {
    if (this.waiting.length >= WAITING_MAX) {
      throw new DbError("overloaded", "Too many calls over large values are waiting; retry shortly.", {
        retry_after_seconds: 1,
      });
    }
    return new Promise<Computed>((resolve, reject) => {
      const call = { job, signal, resolve, reject };
      signal.addEventListener("abort", () => this.givenUp(call), { once: true });
      this.waiting.push(call);
      this.next();
    });
  }

  end(): void {
    if (this.idle !== null) clearTimeout(this.idle);
    this.process?.kill("SIGKILL");
  }

  private next(): void {
    if (this.current !== null) return;
    const call = this.waiting.shift();
    if (call === undefined) return;
    if (call.signal.aborted) {
      call.reject(call.signal.reason);
      this.next();
      return;
    }
    if (this.idle !== null) clearTimeout(this.idle);
    this.current = call;
    this.process ??= this.start();
    this.process.ref();
    this.send(this.process, smallMessages(call.job));
  }

  /** One after the other: the thread does other things in between. */
  private send(process: ChildProcess, messages: Generator<SmallMessage>): void {
    const { value, done } = messages.next();
    if (done === true || this.process !== process) return;
    process.send(value, (error) => {
      if (this.process !== process) return;
      if (error !== null) this.ended(error);
      else this.send(process, messages);
    });
  }

  private start(): ChildProcess {
    const started = fork(threadEntry("compute-process"), {
      serialization: "advanced",
      execArgv: [`--max-old-space-size=${HEAP_MIB}`],
      // What V8 prints when it runs out of memory is told in our words.
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    const assembly = new Assembly();
    started.on("message", (small: SmallMessage) => {
      const applied = assembly.take(small) as Computed | undefined;
      if (applied !== undefined && this.process === started) this.settle((call) => call.resolve(applied));
    });
    started.on("error", (error) => this.process === started && this.ended(error));
    started.on("exit", (_code, signal) => {
      if (this.process === started) this.ended(endOf(signal));
    });
    return started;
  }

  /** Nobody waits for it any more. A process in the middle of it can only be ended. */
  private givenUp(call: Call): void {
    const at = this.waiting.indexOf(call);
    if (at >= 0) this.waiting.splice(at, 1);
    if (this.current !== call) {
      call.reject(call.signal.reason);
      return;
    }
    const { process } = this;
    this.process = null;
    process?.kill("SIGKILL");
    this.settle(() => call.reject(call.signal.reason));
  }

  private ended(error: unknown): void {
    this.process?.kill("SIGKILL");
    this.process = null;
    this.settle((call) => call.reject(error));
  }

  private settle(tell: (call: Call) => void): void {
    const { current } = this;
    this.current = null;
    if (current !== null) tell(current);
    // It keeps neither the thread nor itself alive.
    this.process?.unref();
    if (this.process !== null && this.waiting.length === 0) {
      this.idle = setTimeout(() => this.stop(), IDLE_MS);
      this.idle.unref();
    }
    this.next();
  }

  private stop(): void {
    if (this.current !== null) return;
    const { process } = this;
    this.process = null;
    process?.disconnect();
  }
}

/** V8 aborts a process that has no memory left. */
function endOf(signal: NodeJS.Signals | null): Error {
  if (signal !== "SIGABRT" && signal !== "SIGTRAP") return new Error(`a process for functions ended (${signal})`);
  return sqlError("53200", "out of memory", {
    hint: `A call of a function over large values may use ${HEAP_MIB} MiB.`,
  });
}
