/**
 * Brings an engine up to date with its commit log when a shard is opened (shard.ts), and records in it how far it is.
 */

import { DbError } from "../protocol/errors.js";
import type { CommitLog, FramedOperations, LogEntry } from "./commit-log.js";
import type { Engine } from "./engine.js";
import { APPLIED_SEQUENCE_KEY } from "./keys.js";
import { type Operation, sizeOf } from "./operation.js";
import { ReplayedFrames } from "./replayed-frames.js";
import { type ReplayedLoad, ReplayedRuns } from "./replayed-loads.js";

/** Operations of one engine batch while the log is replayed, a few milliseconds of the thread. */
const REPLAY_OPERATIONS = 1024;
const REPLAY_BYTES = 512 * 1024;

/** The newest commit that the engine has. */
export function appliedBy(engine: Engine): number {
  const value = engine.get(APPLIED_SEQUENCE_KEY);
  return value === undefined ? 0 : Buffer.from(value).readUIntBE(0, 6);
}

/** As the engine keeps it under APPLIED_SEQUENCE_KEY. */
export function encodeSequence(sequence: number): Buffer {
  const bytes = Buffer.allocUnsafe(6);
  bytes.writeUIntBE(sequence, 0, 6);
  return bytes;
}

/**
 * Passes the commits that the engine lacks to `write`, in batches. One that ends with a whole commit has its sequence;
 * null for a part of a commit, which is replayed again after a crash. Throws partition_damaged if the log does not have
 * them. Gives way after each batch: the thread may have other partitions to serve. Answers the loads among them.
 */
export async function recoverEngine(
  engine: Engine,
  log: CommitLog,
  now: () => number,
  write: (operations: Operation[], sequence: number | null) => void,
): Promise<readonly ReplayedLoad[]> {
  const applied = appliedBy(engine);
  if (log.lastSequence < applied) {
    // The log must not say that the engine has them while another power cut could take them from the engine as well.
    engine.write([{ key: APPLIED_SEQUENCE_KEY, value: encodeSequence(applied) }], true);
    log.appendGap(applied, now());
    return [];
  }
  if (log.firstSequence > applied + 1) {
    throw behind(`has applied ${applied} commits, the commit log starts at ${log.firstSequence}`);
  }
  const loads: ReplayedLoad[] = [];
  let operations: Operation[] = [];
  let bytes = 0;
  let last = applied;
  let written = applied;
  const isFull = () => operations.length >= REPLAY_OPERATIONS || bytes >= REPLAY_BYTES;
  const pass = async (sequence: number | null) => {
    write(operations, sequence);
    operations = [];
    bytes = 0;
    await loopRound();
  };
  for (const entry of log.replay(applied + 1)) {
    checkReplayable(entry, applied);
    const { sequence, micros, parts, framed } = entry;
    const commit = { sequence, micros };
    if (parts !== undefined && last > written) await pass(last);
    const runs = parts === undefined ? null : new ReplayedRuns(engine);
    const take = async (all: Iterable<Operation>, isNoted: boolean) => {
      for (const operation of all) {
        if (!isNoted) runs?.note(operation);
        if (isFull()) await pass(null);
        operations.push({ key: operation.key, value: operation.value, commit });
        bytes += sizeOf(operation);
      }
    };
    if (framed !== undefined)
      await replayFrames(engine, framed, runs!, (all) => take(all, true).then(() => pass(null)));
    await take(framed === undefined ? entry.operations : framed.late, false);
    last = sequence;
    if (parts === undefined && !isFull()) continue;
    await pass(last);
    written = last;
    if (parts !== undefined) loads.push(...(await runs!.loads(sequence, parts, loopRound)));
  }
  if (last > written) await pass(last);
  return loads;
}

/**
 * Has the engine's other thread write the parts of a large commit, as it does while the shard runs. Its entries are not
 * counted among those that the log is kept for, so it is kept the longer. `write` takes what that thread does not.
 */
async function replayFrames(
  engine: Engine,
  { parts }: FramedOperations,
  runs: ReplayedRuns,
  write: (operations: Iterable<Operation>) => Promise<void>,
): Promise<void> {
  const frames = new ReplayedFrames(engine, write, loopRound);
  for (const part of parts) {
    runs.noteFrames(part);
    if (part.isPlain) await frames.take(part);
    else {
      await frames.end();
      await write(part.copied());
    }
  }
  await frames.end();
}

const loopRound = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function checkReplayable(entry: LogEntry, applied: number): void {
  if (entry.gap) throw behind(`has applied ${applied} commits, the commit log has a gap up to ${entry.sequence}`);
}

function behind(what: string): DbError {
  return new DbError("partition_damaged", `The shard cannot be recovered: its engine ${what}. Restore a backup.`);
}
