/**
 * Files in memory and in virtual time, for backups: what the process does below `root` with node:fs, node:fs/promises
 * and node:zlib while a simulation runs. They outlive the threads that use them. A power cut leaves what was synced,
 * and of the rest some pages and some names.
 */
import { createRequire, syncBuiltinESMExports } from "node:module";
import { dirname } from "node:path";
import type { SeededRandom } from "./seeded-random.js";
import type { VirtualLoop } from "./virtual-loop.js";

interface File {
  readonly kind: "file";
  bytes: Buffer;
  synced: Buffer;
}
interface Directory {
  readonly kind: "directory";
}
type Node = File | Directory;
type Open = { readonly path: string; readonly node: Node; position: number };
// biome-ignore lint/suspicious/noExplicitAny: functions of Node with many forms
type Anything = any;

const PAGE_BYTES = 4096;
/** No descriptor of the process is so large. */
const DESCRIPTOR_MIN = 1_000_000;
const NO_ENTRY = "ENOENT";

const require = createRequire(import.meta.url);
const fs = require("node:fs") as Record<string, Anything>;
const promises = require("node:fs/promises") as Record<string, Anything>;
const zlib = require("node:zlib") as Record<string, Anything>;

export class VirtualFiles {
  /** What every write, or every sync, fails with. */
  writeError: string | null = null;
  syncError: string | null = null;
  /** When that was last so, in the loop's milliseconds. */
  failedAt = Number.NEGATIVE_INFINITY;
  private nodes = new Map<string, Node>();
  /** Names as they are on the device. */
  private durable = new Map<string, Node>();
  private readonly open = new Map<number, Open>();
  private nextDescriptor = DESCRIPTOR_MIN;

  constructor(
    readonly root: string,
    private readonly loop: VirtualLoop,
    private readonly random: SeededRandom,
  ) {
    const there: Directory = { kind: "directory" };
    this.nodes.set(root, there);
    this.durable.set(root, there);
  }

  /** To be undone with the loop's `uninstall`. */
  install(): void {
    const { loop } = this;
    const at = (name: string, own: (...args: Anything[]) => unknown): void =>
      this.instead(fs, name, (first) => this.isOwn(first), own);
    at("mkdirSync", (path) => this.makeDirectory(path));
    at("readdirSync", (path) => this.list(path));
    at("readFileSync", (path, encoding) => this.read(path).toString(encoding));
    at("openSync", (path, flags) => this.openFile(path, flags));
    at("writeSync", (descriptor, text) => this.append(this.of(descriptor), Buffer.from(text)));
    at("fsyncSync", (descriptor) => this.sync(this.of(descriptor)));
    at("closeSync", (descriptor) => this.open.delete(descriptor));
    at("renameSync", (from, to) => this.rename(from, to));
    at("rmSync", (path) => this.remove(path));
    const later = (name: string, own: (...args: Anything[]) => unknown): void =>
      this.instead(
        promises,
        name,
        (first) => this.isOwn(first),
        (...args) => this.later(() => own(...args)),
      );
    later("open", (path, flags) => this.handle(this.openFile(path, flags)));
    later("rename", (from, to) => this.rename(from, to));
    later("rm", (path) => this.remove(path));
    for (const name of ["deflateRaw", "inflateRaw"]) {
      const atOnce = zlib[`${name}Sync`];
      loop.replace(zlib, name, (bytes: Uint8Array, options: object, done: (error: unknown, out?: Buffer) => void) => {
        this.later(() => atOnce(bytes, options)).then((out) => done(null, out as Buffer), done);
      });
    }
    syncBuiltinESMExports();
  }

  private instead(
    target: Record<string, Anything>,
    name: string,
    isOwn: (first: unknown) => boolean,
    own: (...args: Anything[]) => unknown,
  ): void {
    const real = target[name];
    this.loop.replace(target, name, (...args: unknown[]) => (isOwn(args[0]) ? own(...args) : real(...args)));
  }

  private failure(code: string, path: string): Error {
    this.failedAt = this.loop.now;
    return failure(code, path);
  }

  private isOwn(what: unknown): boolean {
    if (typeof what === "number") return what >= DESCRIPTOR_MIN;
    return typeof what === "string" && (what === this.root || what.startsWith(`${this.root}/`));
  }

  /** Whoever asked may be gone when it is done; it was done before that or never. */
  private async later<T>(run: () => T): Promise<T> {
    const isFirst = this.random.chance(0.5);
    const early = isFirst ? { value: run() } : null;
    await this.loop.sleep(this.random.next() * (this.random.chance(0.05) ? 5 : 0.3));
    return early === null ? run() : early.value;
  }

  private handle(descriptor: number): object {
    const open = this.of(descriptor);
    return {
      writeFile: (bytes: Uint8Array) => this.later(() => void this.append(open, bytes)),
      sync: () => this.later(() => this.sync(open)),
      close: () => this.later(() => void this.open.delete(descriptor)),
      read: (into: Buffer, offset: number, length: number) =>
        this.later(() => {
          const file = this.fileOf(open);
          const bytesRead = file.bytes.copy(into, offset, open.position, open.position + length);
          open.position += bytesRead;
          return { bytesRead };
        }),
    };
  }

  private of(descriptor: number): Open {
    const open = this.open.get(descriptor);
    if (open === undefined) throw failure("EBADF", String(descriptor));
    return open;
  }

  private fileOf({ node, path }: Open): File {
    if (node.kind !== "file") throw failure("EISDIR", path);
    return node;
  }

  private makeDirectory(path: string): string | undefined {
    if (this.nodes.has(path)) return undefined;
    const first = this.makeDirectory(dirname(path));
    this.put(path, { kind: "directory" });
    return first ?? path;
  }

  private put(path: string, node: Node): void {
    if (this.nodes.get(dirname(path))?.kind !== "directory") throw failure(NO_ENTRY, path);
    this.nodes.set(path, node);
  }

  private list(path: string): string[] {
    if (!this.nodes.has(path)) throw failure(NO_ENTRY, path);
    return namesBelow(this.nodes, path).map((one) => one.slice(path.length + 1));
  }

  private openFile(path: string, flags: string): number {
    if (flags === "w" || flags === "wx") {
      if (this.writeError !== null) throw this.failure(this.writeError, path);
      this.put(path, { kind: "file", bytes: Buffer.alloc(0), synced: Buffer.alloc(0) });
    }
    const node = this.nodes.get(path);
    if (node === undefined) throw failure(NO_ENTRY, path);
    this.open.set(this.nextDescriptor, { path, node, position: 0 });
    return this.nextDescriptor++;
  }

  private read(path: string): Buffer {
    const node = this.nodes.get(path);
    if (node?.kind !== "file") throw failure(NO_ENTRY, path);
    return node.bytes;
  }

  private append(open: Open, bytes: Uint8Array): number {
    const file = this.fileOf(open);
    const { writeError } = this;
    const taken = writeError === null ? bytes : bytes.subarray(0, bytes.length >> 1);
    file.bytes = Buffer.concat([file.bytes, taken]);
    if (writeError !== null) throw this.failure(writeError, open.path);
    return bytes.length;
  }

  private sync({ path, node }: Open): void {
    if (this.syncError !== null) throw this.failure(this.syncError, path);
    if (node.kind === "file") {
      node.synced = node.bytes;
      return;
    }
    for (const gone of namesBelow(this.durable, path)) if (!this.nodes.has(gone)) this.durable.delete(gone);
    for (const name of namesBelow(this.nodes, path)) this.durable.set(name, this.nodes.get(name)!);
  }

  private rename(from: string, to: string): void {
    const node = this.nodes.get(from);
    if (node === undefined) throw failure(NO_ENTRY, from);
    this.put(to, node);
    this.nodes.delete(from);
  }

  private remove(path: string): void {
    for (const name of [...this.nodes.keys()]) {
      if (name === path || name.startsWith(`${path}/`)) this.nodes.delete(name);
    }
  }

  /** Of what was not synced none, some or all is there. */
  cutPower(): void {
    const share = this.random.pick([0, 0.5, 0.9, 1]);
    const survives = (): boolean => this.random.chance(share);
    const before = this.nodes;
    this.nodes = new Map();
    const names = [...new Set([...before.keys(), ...this.durable.keys()])].sort();
    for (const name of names) {
      const [now, device] = [before.get(name), this.durable.get(name)];
      const node = now === device || survives() ? now : device;
      const hasPlace = name === this.root || this.nodes.has(dirname(name));
      if (node !== undefined && hasPlace) this.nodes.set(name, node.kind === "file" ? afterCut(node, survives) : node);
    }
    this.durable = new Map(this.nodes);
    this.open.clear();
  }
}

function afterCut({ bytes, synced }: File, survives: () => boolean): File {
  if (bytes === synced) return { kind: "file", bytes, synced };
  const content = Buffer.alloc(bytes.length);
  synced.copy(content);
  let length = synced.length;
  for (let page = 0; page < bytes.length; page += PAGE_BYTES) {
    const end = Math.min(page + PAGE_BYTES, bytes.length);
    if (!survives()) continue;
    bytes.copy(content, page, page, end);
    length = Math.max(length, end);
  }
  const left = content.subarray(0, length);
  return { kind: "file", bytes: left, synced: left };
}

function namesBelow(nodes: ReadonlyMap<string, Node>, path: string): string[] {
  return [...nodes.keys()].filter((name) => name !== path && dirname(name) === path).sort();
}

function failure(code: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: simulated, ${path}`), { code });
}
