/**
 * The runners of an inference thread: made when a bundle is first wanted, and bounded in number and memory. They are
 * released when nobody uses them for a while, or, the least recently used first, when another needs the room. Made and
 * owned by workers/inference.ts.
 */
import { findBundle } from "./bundle.js";
import { BundleError, type Manifest } from "./manifest.js";
import type { Runner } from "./runner.js";

export interface PoolOptions {
  /** Threads that one run may use. */
  readonly runThreads: number;
  /** Runners, and bytes that they hold together. */
  readonly runnersMax: number;
  readonly bytesMax: number;
  readonly load: (directory: string, manifest: Manifest, threads: number) => Promise<Runner>;
}

/** All that could make room is at work. */
export class PoolFullError extends Error {
  override readonly name = "PoolFullError";
}

interface Held {
  readonly directory: string;
  /** Of the bundle as it was loaded; the folder may hold another one by now. */
  readonly digest: string;
  readonly runner: Promise<Runner>;
  /** Before it is loaded: what its files have. */
  bytes: number;
  users: number;
  usedMs: number;
  /** Told when nobody uses it any more, once it has been dropped. */
  unused: (() => void) | null;
}

export class RunnerPool {
  private readonly held = new Map<string, Held>();
  /** Releases that are under way. */
  private releasing: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: PoolOptions) {}

  get size(): number {
    return this.held.size;
  }

  get bytes(): number {
    let sum = 0;
    for (const { bytes } of this.held.values()) sum += bytes;
    return sum;
  }

  /**
   * Has `work` done by the runner of the bundle in that folder, whose digest it gets. Throws BundleError, PoolFullError
   * and what `work` throws.
   */
  async use<Result>(directory: string, work: (runner: Runner, digest: string) => Promise<Result>): Promise<Result> {
    const held = this.held.get(directory) ?? this.load(directory);
    held.users++;
    try {
      return await work(await held.runner, held.digest);
    } finally {
      held.users--;
      held.usedMs = performance.now();
      if (held.users === 0) held.unused?.();
    }
  }

  /** Releases what nobody has used for that long. */
  async releaseUnused(idleMs: number): Promise<void> {
    const before = performance.now() - idleMs;
    for (const held of this.held.values()) if (held.users === 0 && held.usedMs <= before) this.release(held);
    await this.releasing;
  }

  /** Releases the runner of the bundle in that folder once nobody uses it; the next request loads it again. */
  async drop(directory: string): Promise<void> {
    const held = this.held.get(directory);
    if (held === undefined) return;
    this.held.delete(directory);
    if (held.users > 0) {
      await new Promise<void>((resolve) => {
        held.unused = resolve;
      });
    }
    // One that could not be loaded has nothing to release.
    if ((await held.runner.catch(() => null)) === null) return;
    this.release(held);
    await this.releasing;
  }

  private load(directory: string): Held {
    const found = findBundle(directory);
    if (found === null) throw new BundleError("its manifest is missing");
    const { manifest, digest, problem } = found;
    if (manifest === null || problem !== null) throw new BundleError(problem ?? "its manifest cannot be read");
    const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
    this.makeRoom(bytes);
    const runner = this.releasing.then(() => this.options.load(directory, manifest, this.options.runThreads));
    const held: Held = { directory, digest, runner, bytes, users: 0, usedMs: performance.now(), unused: null };
    this.held.set(directory, held);
    runner.then(
      (loaded) => {
        held.bytes = loaded.bytes;
      },
      () => this.forget(held),
    );
    return held;
  }

  private makeRoom(bytes: number): void {
    const { runnersMax, bytesMax } = this.options;
    if (bytes > bytesMax) {
      throw new BundleError(`it needs ${bytes} bytes of memory, ai.model_memory_bytes leaves ${bytesMax}`);
    }
    while (this.held.size >= runnersMax || this.bytes + bytes > bytesMax) {
      const [oldest] = [...this.held.values()]
        .filter(({ users }) => users === 0)
        .sort((one, other) => one.usedMs - other.usedMs);
      if (oldest === undefined)
        throw new PoolFullError("The running models leave no memory for another one; retry shortly.");
      this.release(oldest);
    }
  }

  private release(held: Held): void {
    this.forget(held);
    this.releasing = Promise.all([this.releasing, held.runner.then((loaded) => loaded.release())]);
  }

  /** Another may have taken its place. */
  private forget(held: Held): void {
    if (this.held.get(held.directory) === held) this.held.delete(held.directory);
  }
}
