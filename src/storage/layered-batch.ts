/**
 * What the engine takes for a batch of operations where a tenant's past is kept or a branch reads through to its
 * origin: the operations, what they replace, and which entries of an origin they hide. Used by layered-engine.ts.
 */
import type { BranchBytes, OwnBefore } from "./branch-bytes.js";
import type { Branch, BranchList } from "./branch-list.js";
import { replacedValue } from "./history-cursors.js";
import { hiddenKey, isRecordKey, layerRecordOf, replacedKey, sequenceValue, stampKey } from "./history-keys.js";
import { APPLIED_SEQUENCE_KEY, isOfPast, isOwnOnly, tenantOfKey } from "./keys.js";
import { type CommitStamp, type Operation, without } from "./operation.js";
import { keyText } from "./ordered-map.js";
import type { ReplacedEntries } from "./replaced-entries.js";
import { valuesBefore } from "./values-before.js";

/** The layered engine, as it is needed here. */
export interface LayeredHost {
  readonly branches: BranchList;
  readonly bytes: BranchBytes;
  readonly replaced: ReplacedEntries;
  /** Whether the past of the tenant is kept. */
  keepsPastOf(tenant: number): boolean;
  get(key: Uint8Array): Uint8Array | undefined;
  /** The entries of keys of a tenant whose past is kept. */
  valuesOf(tenant: number, keys: readonly Uint8Array[]): readonly (Uint8Array | undefined)[];
  /** The commit writes the key, of a branch or of a tenant whose past is kept. Undefined: it is not known which one. */
  writes(key: Uint8Array, tenant: number, commit: CommitStamp | undefined): void;
  /** The commit replaces entries of the tenant. */
  replacesOf(tenant: number, sequence: number): void;
  /** Takes note of a record: what the engine has to keep for it, and prefixes of all that it has cleared. */
  noteRecord(operation: Operation): { readonly kept: readonly Operation[]; readonly cleared: readonly Buffer[] };
}

const NO_BYTES = new Uint8Array(0);

/**
 * `isPart`: a commit that the engine gets in parts may have a key in several, and may come again after a crash.
 * `doAscend`: each key is greater than the one before.
 */
export function layeredBatch(
  host: LayeredHost,
  operations: readonly Operation[],
  isPart: boolean,
  doAscend: boolean,
): readonly Operation[] {
  const batch = new LayeredBatch(host, operations, isPart, doAscend);
  for (let i = 0; i < operations.length; i++) batch.add(operations[i]!, i);
  return batch.all();
}

class LayeredBatch {
  private past: Operation[] = [];
  private made: Operation[] = [];
  /** Those of branches that are written like tenants. */
  private readonly free: Operation[] = [];
  /** What was written last under a key; null: each operation has a key of its own. */
  private readonly seen: Map<string, Operation> | null;
  private readonly own: OwnBefore;
  private readonly found: readonly (Uint8Array | undefined | null)[];
  private readonly known: readonly (Uint8Array | undefined)[] | null;
  /** Whose operations there were. */
  private readonly turned = new Set<number>();
  /** Whose operation the last one was. */
  private tenant = -1;
  private isKept = false;
  private isFree = false;
  private branch: Branch | undefined;
  /** The branch's operations are counted, and say all. */
  private isPlain = false;
  private stamped: CommitStamp | null = null;

  constructor(
    private readonly host: LayeredHost,
    operations: readonly Operation[],
    isPart: boolean,
    doAscend: boolean,
  ) {
    const keeps = (tenant: number): boolean => host.keepsPastOf(tenant);
    this.seen = doAscend ? null : new Map();
    this.own = host.bytes.before(operations);
    this.found = valuesBefore(operations, keeps, (tenant, keys) => host.valuesOf(tenant, keys));
    this.known = isPart ? host.replaced.byCommits(operations, keeps) : null;
  }

  add(operation: Operation, i: number): void {
    const { key, commit } = operation;
    if (tenantOfKey(key) !== this.tenant) this.turnTo(tenantOfKey(key));
    if (this.isKept || this.branch !== undefined) this.host.writes(key, this.tenant, commit);
    if (this.isKept && commit !== undefined && isOfPast(key)) this.keepPast(operation, commit, i);
    if (this.branch !== undefined && !this.isPlain) this.addToBranch(operation);
    else this.made.push(operation);
    if (this.isFree) this.free.push(operation);
    this.seen?.set(textOf(operation), operation);
    if (isRecordKey(key)) this.noteRecord(operation);
  }

  /**
   * What was replaced comes first: RocksDB takes keys that ascend in a third of the time of keys that go to and fro.
   */
  all(): readonly Operation[] {
    const { bytes } = this.host;
    return [...this.past, ...bytes.written([this.free]), ...this.made, ...bytes.kept(this.own.tenants)];
  }

  private turnTo(tenant: number): void {
    const { branches } = this.host;
    this.tenant = tenant;
    this.turned.add(tenant);
    this.isKept = this.host.keepsPastOf(tenant);
    this.isFree = branches.free(tenant) !== undefined;
    this.branch = this.isFree ? undefined : branches.get(tenant);
    this.isPlain = this.own.plain.has(tenant);
    this.stamped = null;
  }

  private keepPast({ key, text }: Operation, commit: CommitStamp, i: number): void {
    const { host, past, tenant } = this;
    const last = this.seen?.get(text ?? keyText(key));
    // A commit may have a key twice; what it replaced is what was there before the first time.
    if (last?.commit?.sequence === commit.sequence) return;
    if (this.known?.[i] === undefined) {
      const there = this.found[i] === null ? host.get(key) : this.found[i];
      const before = replacedValue(last === undefined ? there : (last.value ?? undefined));
      past.push({ key: replacedKey(key, commit.sequence), value: before });
    }
    if (this.stamped?.sequence === commit.sequence) return;
    host.replacesOf(tenant, commit.sequence);
    if (this.stamped?.micros !== commit.micros)
      past.push({ key: stampKey(tenant, commit.micros), value: sequenceValue(commit.sequence) });
    this.stamped = commit;
  }

  private addToBranch(operation: Operation): void {
    const { own, past, tenant } = this;
    const { key, value } = operation;
    const text = textOf(operation);
    // Its marker would be stepped over, for nothing. But each operation is one entry or more: log-trim.ts.
    const isNothing = value === null && !own.values.has(text) && !this.seen?.has(text);
    this.branch!.writes++;
    // A deletion of a marker that is not there would cost as much as the entry.
    const isMarked = own.markers.has(text);
    this.host.bytes.note(tenant, operation, text, own);
    if (!isOwnOnly(key) && value === null) past.push({ key: hiddenKey(key), value: NO_BYTES });
    else if (isMarked) past.push({ key: hiddenKey(key), value: null });
    if (!isNothing || isOwnOnly(key)) this.made.push(operation);
  }

  private noteRecord(operation: Operation): void {
    const { kept, cleared } = this.host.noteRecord(operation);
    // What has been written before it was a branch is not known.
    const tenant = layerRecordOf(operation.key)?.tenant;
    if (tenant !== undefined && this.turned.has(tenant)) this.host.writes(operation.key, tenant, undefined);
    // A batch may be thousands of records: only those that clear something cost a look at all that is before them.
    if (cleared.length > 0) [this.past, this.made] = [without(this.past, cleared), [...without(this.made, cleared)]];
    this.made.push(...kept);
    // It may have changed what is kept.
    this.tenant = -1;
  }
}

function textOf({ key, text }: Operation): string {
  return text ?? keyText(key);
}

/** Each key is greater than the one before, as in most commits; the number of the commit may follow them. */
export function keysAscend(operations: readonly Operation[]): boolean {
  const end = operations.at(-1)?.key === APPLIED_SEQUENCE_KEY ? operations.length - 1 : operations.length;
  for (let i = 1; i < end; i++) if (!isBefore(operations[i - 1]!.key, operations[i]!.key)) return false;
  return true;
}

/** In byte order. Of short keys a call of `Buffer.compare` takes several times as long. */
function isBefore(a: Uint8Array, b: Uint8Array): boolean {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) if (a[at] !== b[at]) return a[at]! < b[at]!;
  return a.length < b.length;
}
