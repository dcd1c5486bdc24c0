/**
 * Looks whether a cluster is as it should be, without any server: owners and nodes are there, each partition's log in
 * etcd is one chain, enough copies have what it has, and this machine's copies hold the same commits on disk. Called by
 * `tessera cluster check`.
 */
import { existsSync } from "node:fs";
import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DbError } from "../protocol/errors.js";
import type { Commit, CommitLog, LogEntry } from "../storage/commit-log.js";
import { FileCommitLog } from "../storage/file-commit-log.js";
import { MemoryCommitLog } from "../storage/memory-commit-log.js";
import type { Operation } from "../storage/operation.js";
import type { ClusterMap, ClusterView } from "./cluster-map.js";
import { CopyBehind, LogFollower } from "./log-follower.js";
import type { LogService } from "./log-service.js";

export interface ClusterCheckOptions {
  readonly map: Pick<ClusterMap, "view">;
  readonly service: Pick<LogService, "tail">;
  readonly partitions: number;
  /** That a commit is to be on the disk of. */
  readonly copies: number;
  /** A node that has not renewed for so long is down; also the time that copies have to follow. */
  readonly silentMs: number;
  /** This machine's, and where the log of a partition is on its disk. */
  readonly local?: { readonly node: string; readonly logOf: (partition: number) => string };
}

export interface ClusterFinding {
  /** Null: of the cluster. */
  readonly partition: number | null;
  readonly what: string;
}

export interface ClusterCheck {
  readonly problems: readonly ClusterFinding[];
  /** Appends' commits that were read in etcd, and those of them that this machine's disk has, too. */
  readonly commits: number;
  readonly compared: number;
}

/** What etcd holds of a partition's log. */
interface Walked {
  /** The first commit that it has; commits before have been trimmed. */
  readonly first: number;
  readonly last: number;
}

const TRIES_MAX = 5;

export async function checkCluster(options: ClusterCheckOptions): Promise<ClusterCheck> {
  const { map, partitions, silentMs } = options;
  const check = new Checking(options);
  const before = await map.view();
  const began = performance.now();
  const logs: (Walked | null)[] = [];
  for (let partition = 0; partition < partitions; partition++) logs.push(await check.log(partition, before));
  await sleep(Math.max(0, silentMs - (performance.now() - began)));
  const after = await map.view();
  check.nodes(before, after);
  for (let partition = 0; partition < partitions; partition++) check.copies(partition, logs[partition]!, after);
  return { problems: check.problems, commits: check.commits, compared: check.compared };
}

class Checking {
  readonly problems: ClusterFinding[] = [];
  commits = 0;
  compared = 0;
  private readonly down = new Set<string>();

  constructor(private readonly options: ClusterCheckOptions) {}

  private note(partition: number | null, what: string): void {
    this.problems.push({ partition, what });
  }

  nodes(before: ClusterView, { members, owners }: ClusterView): void {
    for (const [node, { revision, isFenced }] of members) {
      if (!isFenced && before.members.get(node)?.revision !== revision) continue;
      this.down.add(node);
      this.note(null, `${node} is down: it does not renew its lease`);
    }
    for (let partition = 0; partition < this.options.partitions; partition++) {
      const owner = owners.get(partition)?.node;
      if (owner === undefined) this.note(partition, "it has no owner");
      else if (!members.has(owner) || this.down.has(owner)) this.note(partition, `its owner ${owner} is down`);
    }
  }

  /** Null: etcd holds nothing of it, or what it holds could not be read. */
  log(partition: number, view: ClusterView): Promise<Walked | null> {
    const { local } = this.options;
    if (local === undefined) return this.read(partition, view, null);
    return withLogOnDisk(local.logOf(partition), (log) => this.read(partition, view, log));
  }

  private async read(partition: number, view: ClusterView, local: CommitLog | null): Promise<Walked | null> {
    try {
      this.hasWhatItReported(partition, view, local);
      const walked = await this.walk(partition, local);
      const reported = [...(view.durable.get(partition) ?? [])].filter(([, at]) => walked !== null && at > walked.last);
      for (const [node, at] of reported)
        this.note(partition, `${node} has commit ${at} on its disk, and etcd's log ends at ${walked!.last}`);
      return walked;
    } catch (error) {
      if (!(error instanceof DbError && error.code === "partition_damaged")) throw error;
      this.note(partition, error.message);
      return null;
    }
  }

  private hasWhatItReported(partition: number, view: ClusterView, local: CommitLog | null): void {
    const node = this.options.local?.node;
    const reported = node === undefined ? undefined : view.durable.get(partition)?.get(node);
    if (reported === undefined || (local !== null && local.lastSequence >= reported)) return;
    const has = local === null ? "there is none" : `it ends at ${local.lastSequence}`;
    this.note(partition, `${node} has reported commit ${reported}, and in the log on its disk ${has}`);
  }

  /** Throws partition_damaged when the log is no chain, or another one than this machine's. */
  private async walk(partition: number, local: CommitLog | null): Promise<Walked | null> {
    const { service } = this.options;
    for (let tries = 1; ; tries++) {
      const [head] = await service.tail(partition, { sequence: 0, part: 0 }, 1);
      if (head === undefined) return null;
      const log = new ComparedLog(head.position.sequence, local);
      try {
        await new LogFollower(log).catchUp(service, partition, () => undefined);
        this.commits += log.lastSequence + 1 - head.position.sequence;
        this.compared += log.compared;
        return { first: head.position.sequence, last: log.lastSequence };
      } catch (error) {
        const [now] = await service.tail(partition, { sequence: 0, part: 0 }, 1);
        const isMoved = now?.position.sequence !== head.position.sequence || now.position.part !== head.position.part;
        // The owner has trimmed it in the middle of this.
        if (isMoved && tries < TRIES_MAX) continue;
        if (error instanceof CopyBehind)
          throw new DbError("partition_damaged", "etcd's log begins in the middle of a commit.");
        throw error;
      }
    }
  }

  /** Those copies count that have what etcd had when it was read. */
  copies(partition: number, walked: Walked | null, { members, durable, copySets }: ClusterView): void {
    const reports = durable.get(partition) ?? new Map<string, number>();
    const newest = Math.max(0, walked?.last ?? 0, ...(walked === null ? reports.values() : []));
    if (newest === 0) return;
    let enough = 0;
    const keeping = copySets.get(partition)?.nodes ?? [...members.keys()];
    for (const node of keeping.filter((name) => members.has(name))) {
      const at = reports.get(node);
      if (at !== undefined && at >= newest) enough++;
      else if (at === undefined) this.note(partition, `${node} has no copy`);
      else if (walked !== null && at < walked.first - 1)
        this.note(
          partition,
          `${node} is at commit ${at}, and etcd's log begins at ${walked.first}: it needs the owner's`,
        );
      else this.note(partition, `${node} is ${newest - at} commits behind: it is at ${at} of ${newest}`);
    }
    const wanted = Math.min(this.options.copies, members.size);
    if (enough < wanted) this.note(partition, `${enough} nodes have commit ${newest} on disk, of ${wanted} wanted`);
  }
}

/**
 * A partition's log as it is on this machine's disk now, for a look at it while a server may go on writing: opening a
 * log mends its end, so a copy is opened. Null: there is none. `work` has it until it resolves.
 */
export async function withLogOnDisk<T>(directory: string, work: (log: CommitLog | null) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "tessera-check-"));
  try {
    if (!(await copyLog(directory, folder))) return await work(null);
    const log = await FileCommitLog.open({ directory: folder });
    try {
      return await work(log);
    } finally {
      await log.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** False: there is no log. In order, so that only the last file can lack its end. */
async function copyLog(from: string, to: string): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      const names = (await readdir(from)).sort();
      for (const name of names) await copyFile(join(from, name), join(to, name));
      return names.length > 0;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      if (!existsSync(from)) return false;
      // One was dropped meanwhile.
      if (tries === TRIES_MAX) throw error;
      for (const name of await readdir(to)) await rm(join(to, name));
    }
  }
}

/** Takes the commits of etcd's log, compares them with those of a log on disk, and keeps none. */
class ComparedLog extends MemoryCommitLog {
  compared = 0;
  private last: number;
  private readonly theirs: Iterator<LogEntry> | null;
  private their: LogEntry | null = null;

  constructor(first: number, other: CommitLog | null) {
    super();
    this.last = first - 1;
    this.theirs = other === null ? null : other.replay(first)[Symbol.iterator]();
    this.their = this.nextOf();
  }

  override get lastSequence(): number {
    return this.last;
  }

  override append(commits: readonly Commit[]): void {
    for (const commit of commits) {
      super.append([commit]);
      const [entry] = this.replay(commit.sequence);
      this.trim(commit.sequence);
      this.last = commit.sequence;
      this.compare(entry!);
    }
  }

  private nextOf(): LogEntry | null {
    const next = this.theirs?.next();
    return next === undefined || next.done === true ? null : next.value;
  }

  private compare(ours: LogEntry): void {
    while (this.their !== null && this.their.sequence < ours.sequence) this.their = this.nextOf();
    const { their } = this;
    if (their === null || their.sequence > ours.sequence || their.gap) return;
    this.compared++;
    const isSame =
      their.micros === ours.micros &&
      areEqual([...their.operations], [...ours.operations]) &&
      areEqual(their.before ?? [], ours.before ?? []);
    if (isSame) return;
    const where = `commit ${ours.sequence} on this machine's disk is not the one that etcd holds`;
    throw new DbError("partition_damaged", `The copy is damaged: ${where}. Delete it, and the owner gives it anew.`);
  }
}

function areEqual(a: readonly Operation[], b: readonly Operation[]): boolean {
  const isSame = (one: Uint8Array | null | undefined, other: Uint8Array | null | undefined): boolean =>
    one == null || other == null ? (one ?? null) === (other ?? null) : Buffer.compare(one, other) === 0;
  return (
    a.length === b.length &&
    a.every(({ key, value }, index) => isSame(key, b[index]!.key) && isSame(value, b[index]!.value))
  );
}
