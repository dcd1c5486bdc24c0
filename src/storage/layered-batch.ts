/**
 * What the engine takes for a batch of operations where a tenant's past is kept or a branch reads through to its
 * origin: the operations, what they replace, and which entries of an origin they hide. Used by layered-engine.ts.
 */
import type { BranchBytes } from "./branch-bytes.js";
import type { Branch, BranchList } from "./branch-list.js";
import { replacedValue } from "./history-cursors.js";
import { hiddenKey, isRecordKey, replacedKey, sequenceValue, stampKey } from "./history-keys.js";
import { APPLIED_SEQUENCE_KEY, isOwnOnly, SPACE, tenantOfKey } from "./keys.js";
import { type Operation, without } from "./operation.js";
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
  /** The commit replaces the tenant's entry. */
  replaces(tenant: number, key: Uint8Array, sequence: number): void;
  /** Takes note of a record: what the engine has to keep for it, and prefixes of all that it has cleared. */
  noteRecord(operation: Operation): { readonly kept: readonly Operation[]; readonly cleared: readonly Buffer[] };
}

const NO_BYTES = new Uint8Array(0);

/**
 * `isPart`: a commit that the engine gets in parts may have a key in several, and may come again after a crash. What
 * was replaced comes first: RocksDB takes keys that ascend in a third of the time of keys that go to and fro.
 */
export function layeredBatch(host: LayeredHost, operations: readonly Operation[], isPart: boolean): Operation[] {
  const { branches, bytes } = host;
  let past: Operation[] = [];
  let made: Operation[] = [];
  /** What was written last under a key; null: each operation has a key of its own. */
  const seen = keysAscend(operations) ? null : new Map<string, Operation>();
  const keeps = (key: Uint8Array): boolean => keepsKey(host, key);
  const own = bytes.before(operations);
  const found = valuesBefore(operations, keeps, (tenant, keys) => host.valuesOf(tenant, keys));
  const known = isPart ? host.replaced.byCommits(operations, keeps) : null;
  let [tenant, stampedMicros] = [-1, -1];
  let isKept = false;
  let branch: Branch | undefined;
  for (const [i, operation] of operations.entries()) {
    const { key, value, commit } = operation;
    if (tenantOfKey(key) !== tenant) {
      tenant = tenantOfKey(key);
      isKept = host.keepsPastOf(tenant);
      branch = branches.layered(tenant);
      stampedMicros = -1;
    }
    const text = seen === null && branch === undefined ? "" : (operation.text ?? keyText(key));
    const last = seen?.get(text);
    // A commit may have a key twice; what it replaced is what was there before the first time.
    if (isKept && isOfPast(key) && commit !== undefined && last?.commit?.sequence !== commit.sequence) {
      host.replaces(tenant, key, commit.sequence);
      if (known?.[i] === undefined) {
        const there = found[i] === null ? host.get(key) : found[i];
        const before = replacedValue(last === undefined ? there : (last.value ?? undefined));
        past.push({ key: replacedKey(key, commit.sequence), value: before });
      }
      if (commit.micros !== stampedMicros) {
        past.push({ key: stampKey(tenant, commit.micros), value: sequenceValue(commit.sequence) });
        stampedMicros = commit.micros;
      }
    }
    // Its marker would be stepped over, for nothing. But each operation is one entry or more: log-trim.ts.
    const isNothing = branch !== undefined && value === null && !own.values.has(text) && last === undefined;
    if (branch !== undefined) {
      branch.writes++;
      // A deletion of a marker that is not there would cost as much as the entry.
      const isMarked = own.markers.has(text);
      bytes.note(tenant, operation, text, own);
      if (!isOwnOnly(key) && value === null) past.push({ key: hiddenKey(key), value: NO_BYTES });
      else if (isMarked) past.push({ key: hiddenKey(key), value: null });
    }
    if (!isNothing || isOwnOnly(key)) made.push(operation);
    seen?.set(text, operation);
    if (!isRecordKey(key)) continue;
    const { kept, cleared } = host.noteRecord(operation);
    // A batch may be thousands of records: only those that clear something cost a look at all that is before them.
    if (cleared.length > 0) [past, made] = [without(past, cleared), [...without(made, cleared)]];
    made.push(...kept);
    // It may have changed what is kept.
    tenant = -1;
  }
  return [...past, ...bytes.counted(made), ...bytes.kept(own.tenants)];
}

function keepsKey(host: LayeredHost, key: Uint8Array): boolean {
  return isOfPast(key) && host.keepsPastOf(tenantOfKey(key));
}

/** Kept answers of requests have no past. */
function isOfPast(key: Uint8Array): boolean {
  return key[4] !== SPACE.idempotency;
}

/** Each key is greater than the one before, as in most commits; the number of the commit may follow them. */
function keysAscend(operations: readonly Operation[]): boolean {
  const end = operations.at(-1)?.key === APPLIED_SEQUENCE_KEY ? operations.length - 1 : operations.length;
  for (let i = 1; i < end; i++) {
    if (Buffer.compare(operations[i - 1]!.key, operations[i]!.key) >= 0) return false;
  }
  return true;
}
