/** Runs a statement that lost against a concurrent change again, in a longer turn. */
import type { StatementRun } from "./statement-run.js";
import { threadCpuMs } from "./thread-cpu.js";

/** Milliseconds of CPU time, by the number of the attempt before. */
const LONGER_TURN_MS: readonly number[] = [0, 30, 100, 100];

/**
 * A statement that nobody interrupts cannot lose. So one that takes no longer than its turn gets through, however many
 * others want the same rows.
 */
export function withLongerTurn(run: StatementRun, attempt: number): StatementRun {
  const { request } = run;
  const cpuMs = () => threadCpuMs() ?? performance.now();
  const end = cpuMs() + LONGER_TURN_MS[attempt]!;
  // The clock is cheaper to read, and never slower than CPU time.
  let nextLook = performance.now() + LONGER_TURN_MS[attempt]!;
  return {
    ...run,
    request: {
      trace: request.trace ?? null,
      atStatement: (text) => request.atStatement?.(text),
      inCypher: () => request.inCypher?.(),
      checkpoint: () => request.checkpoint(),
      shouldYield: () => {
        if (!request.shouldYield() || performance.now() < nextLook) return false;
        const left = end - cpuMs();
        if (left > 0) nextLook = performance.now() + left;
        return left <= 0;
      },
      yieldTurn: () => request.yieldTurn(),
      origin: request.origin ?? request,
      standsFor: request.standsFor ?? request,
      signal: request.signal,
    },
  };
}
