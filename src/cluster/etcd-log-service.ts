/**
 * The log service on etcd. Keys, below `/tessera/{installation}/`:
 *
 *   own/{partition}                     owner; the key's mod_revision is the epoch
 *   log/{partition}/{sequence}{part}    an append; 12 and 6 hexadecimal digits
 *   copy/{partition}                    the nodes that keep a copy
 *   checkpoint/{partition}              what is kept of it outside of all nodes
 *   at/{partition}/{node}               the newest sequence that the node has on its disk
 *   node/{node}                         a node's life; the key's mod_revision is its revision
 *
 * Each operation is one transaction of etcd's, and every read is linearizable: no lease of etcd's, no watch and no
 * cache of a member's is trusted.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { DbError } from "../protocol/errors.js";
import {
  AlarmType,
  Compare_CompareResult,
  Compare_CompareTarget,
  type CompareSchema,
  type KeyValue,
  RangeRequest_SortOrder,
  type RequestOpSchema,
  type ResponseOp,
  type TxnResponse,
} from "./etcd_pb.js";
import { EtcdClient, type EtcdClientOptions, EtcdFull } from "./etcd-client.js";
import type {
  AppendOutcome,
  CheckpointChange,
  Claim,
  CopySet,
  CopySetChange,
  LogAppend,
  LogService,
  LogUsage,
  Member,
  MemberState,
  Owner,
  Position,
  Revision,
  Settled,
  StoredCheckpoint,
} from "./log-service.js";

export interface EtcdLogServiceOptions extends EtcdClientOptions {
  readonly installation: string;
}

export type EtcdCompare = MessageInitShape<typeof CompareSchema>;
export type EtcdOperation = MessageInitShape<typeof RequestOpSchema>;

export class EtcdLogService implements LogService {
  private readonly client: EtcdClient;
  private readonly prefix: string;

  constructor(options: EtcdLogServiceOptions) {
    const { installation } = options;
    if (!/^[\w-]+$/.test(installation)) {
      throw new DbError("invalid_request", "The installation's id must be of letters, digits, _ and - only.");
    }
    this.client = new EtcdClient(options);
    this.prefix = `/tessera/${installation}/`;
  }

  async owner(partition: number): Promise<Owner | null> {
    const { kvs } = await this.client.range({ key: this.ownKey(partition) });
    return ownerOf(kvs);
  }

  async claim({ partition, node, tenure, epoch, unseen }: Claim): Promise<Revision | null> {
    const conditions = [isAt(this.ownKey(partition), epoch)];
    const writes = [put(this.ownKey(partition), JSON.stringify({ node, tenure }))];
    if (unseen !== undefined) {
      const other = await this.member(unseen.node);
      if ((other?.revision ?? 0) !== unseen.revision) return null;
      conditions.push(isAt(this.nodeKey(unseen.node), unseen.revision));
      if (other !== null) writes.push(put(this.nodeKey(unseen.node), memberText({ ...other, isFenced: true })));
    }
    return revisionAfter(await this.write({ compare: conditions, success: writes }));
  }

  async append(partition: number, epoch: Revision, { position, bytes }: LogAppend): Promise<AppendOutcome> {
    const own = this.ownKey(partition);
    const key = this.logKey(partition, position);
    try {
      const { succeeded, responses } = await this.client.txnAtLeader({
        compare: [isAt(own, epoch), isFreeFrom(key, endOf(this.logPrefix(partition)))],
        success: [put(key, bytes)],
        failure: [get(own)],
      });
      if (succeeded) return "appended";
      return (ownerOf(keysIn(responses[0]))?.epoch ?? 0) === epoch ? "taken" : "fenced";
    } catch (error) {
      if (!(error instanceof EtcdFull)) throw error;
      // etcd says so also of the write that fills it, which it has done (its quotaApplierV3).
      const { bytes: there } = await this.settle(partition, position);
      return there !== null && Buffer.compare(there, bytes) === 0 ? "appended" : "full";
    }
  }

  async settle(partition: number, position: Position): Promise<Settled> {
    const reads = [get(this.ownKey(partition)), get(this.logKey(partition, position))];
    const { responses } = await this.client.txn({ success: reads });
    return { owner: ownerOf(keysIn(responses[0])), bytes: keysIn(responses[1])[0]?.value ?? null };
  }

  async tail(partition: number, from: Position, appendsMax: number): Promise<readonly LogAppend[]> {
    const start = this.logPrefix(partition);
    const after = Buffer.concat([this.logKey(partition, from), Buffer.of(0)]);
    const end = endOf(start);
    const { responses } = await this.client.txn({
      success: [
        range({ key: start, rangeEnd: after, limit: 1n, sortOrder: RangeRequest_SortOrder.DESCEND }),
        range({ key: after, rangeEnd: end, limit: BigInt(appendsMax) }),
      ],
    });
    const found = [...keysIn(responses[0]), ...keysIn(responses[1])].slice(0, appendsMax);
    return found.map(({ key, value }) => ({ position: positionOf(key.subarray(start.length)), bytes: value }));
  }

  async trim(partition: number, before: Position): Promise<void> {
    const range = { key: this.logPrefix(partition), rangeEnd: this.logKey(partition, before) };
    await this.client.txn({ success: [{ request: { case: "requestDeleteRange", value: range } }] });
  }

  async copySet(partition: number): Promise<CopySet | null> {
    const { kvs } = await this.client.range({ key: this.copyKey(partition) });
    return copySetOf(kvs);
  }

  async setCopies({ partition, epoch, revision, nodes, forgotten }: CopySetChange): Promise<Revision | null> {
    const key = this.copyKey(partition);
    const forget = forgotten.map((node) => deletion(this.atKey(partition, node)));
    return revisionAfter(
      await this.write({
        compare: [isAt(this.ownKey(partition), epoch), isAt(key, revision)],
        success: [put(key, JSON.stringify(nodes)), ...forget],
      }),
    );
  }

  async checkpoint(partition: number): Promise<StoredCheckpoint | null> {
    const { kvs } = await this.client.range({ key: this.checkpointKey(partition) });
    return checkpointOf(kvs);
  }

  async setCheckpoint({ partition, epoch, revision, ...kept }: CheckpointChange): Promise<Revision | null> {
    const key = this.checkpointKey(partition);
    return revisionAfter(
      await this.write({
        compare: [isAt(this.ownKey(partition), epoch), isAt(key, revision)],
        success: [put(key, JSON.stringify(kept))],
      }),
    );
  }

  async report(
    node: string,
    durable: ReadonlyMap<number, number>,
    sets: ReadonlyMap<number, Revision> = new Map(),
  ): Promise<ReadonlySet<number>> {
    const all = [...durable];
    const taken = new Set<number>();
    for (let i = 0; i < all.length; i += OPERATIONS_MAX) {
      const group = all.slice(i, i + OPERATIONS_MAX);
      if (await this.reportGroup(node, group, sets)) for (const [partition] of group) taken.add(partition);
      // One of them has another set by now.
      else for (const one of group) if (await this.reportGroup(node, [one], sets)) taken.add(one[0]);
    }
    return taken;
  }

  private async reportGroup(
    node: string,
    group: readonly (readonly [number, number])[],
    sets: ReadonlyMap<number, Revision>,
  ): Promise<boolean> {
    const known = group.filter(([partition]) => sets.has(partition));
    const { succeeded } = await this.write({
      compare: known.map(([partition]) => isAt(this.copyKey(partition), sets.get(partition)!)),
      success: group.map(([partition, sequence]) => put(this.atKey(partition, node), String(sequence))),
    });
    return succeeded;
  }

  async reports(partition: number): Promise<ReadonlyMap<string, number>> {
    const key = this.atKey(partition, "");
    const { kvs } = await this.client.range({ key, rangeEnd: endOf(key) });
    return new Map(kvs.map((kv) => [text(kv.key.subarray(key.length)), Number(text(kv.value))]));
  }

  async member(node: string): Promise<Member | null> {
    const { kvs } = await this.client.range({ key: this.nodeKey(node) });
    const [found] = kvs;
    if (found === undefined) return null;
    return { ...(JSON.parse(text(found.value)) as MemberState), revision: Number(found.modRevision) };
  }

  async renew(node: string, revision: Revision, state: MemberState): Promise<Revision | null> {
    const key = this.nodeKey(node);
    return revisionAfter(await this.write({ compare: [isAt(key, revision)], success: [put(key, memberText(state))] }));
  }

  async usage(): Promise<LogUsage> {
    const { dbSizeInUse, errors } = await this.client.status();
    return { bytes: Number(dbSizeInUse), isFull: errors.some((error) => error.includes(NO_SPACE)) };
  }

  async makeRoom(): Promise<void> {
    const full = await this.client.membersWithoutSpace();
    const { header } = await this.client.range({ key: this.nodeKey(""), limit: 1n });
    await this.client.compact(header!.revision);
    if (full.length === 0) return;
    // The quota counts the file, and the file shrinks only now. Members stand still meanwhile, which they do for writes
    // anyhow.
    await this.client.defragment();
    for (const member of full) await this.client.disarm(member);
  }

  async close(): Promise<void> {
    this.client.close();
  }

  /** A transaction of a few small writes; no room is an outage for these. */
  private async write(request: { compare: EtcdCompare[]; success: EtcdOperation[] }): Promise<TxnResponse> {
    try {
      return await this.client.txn(request);
    } catch (error) {
      if (error instanceof EtcdFull)
        throw new DbError("log_unavailable", `The log service is full (${error.message}).`);
      throw error;
    }
  }

  private ownKey(partition: number): Buffer {
    return Buffer.from(`${this.prefix}own/${partition}`);
  }

  private nodeKey(node: string): Buffer {
    return Buffer.from(`${this.prefix}node/${node}`);
  }

  private copyKey(partition: number): Buffer {
    return Buffer.from(`${this.prefix}copy/${partition}`);
  }

  private checkpointKey(partition: number): Buffer {
    return Buffer.from(`${this.prefix}checkpoint/${partition}`);
  }

  private atKey(partition: number, node: string): Buffer {
    return Buffer.from(`${this.prefix}at/${partition}/${node}`);
  }

  private logPrefix(partition: number): Buffer {
    return Buffer.from(`${this.prefix}log/${partition}/`);
  }

  private logKey(partition: number, { sequence, part }: Position): Buffer {
    const digits = `${hex(sequence, SEQUENCE_DIGITS)}${hex(part, PART_DIGITS)}`;
    return Buffer.concat([this.logPrefix(partition), Buffer.from(digits)]);
  }
}

/** In a member's status. To ask for the alarms themselves is a write for all members. */
const NO_SPACE = AlarmType[AlarmType.NOSPACE];
const SEQUENCE_DIGITS = 12;
const PART_DIGITS = 6;
/** etcd takes at most 128 in a transaction. */
const OPERATIONS_MAX = 100;

function hex(number: number, digits: number): string {
  const written = number.toString(16).padStart(digits, "0");
  if (written.length > digits) throw new DbError("internal_error", `A position of the log is too great: ${number}.`);
  return written;
}

function positionOf(digits: Uint8Array): Position {
  const written = text(digits);
  return {
    sequence: Number.parseInt(written.slice(0, SEQUENCE_DIGITS), 16),
    part: Number.parseInt(written.slice(SEQUENCE_DIGITS), 16),
  };
}

export function text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}

/** The least key after all that begin so; the last byte is one of ours, a slash or a letter. */
export function endOf(prefix: Buffer): Buffer {
  const end = Buffer.from(prefix);
  end[end.length - 1]! += 1;
  return end;
}

export function isAt(key: Buffer, revision: Revision): EtcdCompare {
  return {
    result: Compare_CompareResult.EQUAL,
    target: Compare_CompareTarget.MOD,
    key,
    targetUnion: { case: "modRevision", value: BigInt(revision) },
  };
}

/** Nothing has been written in the range since that revision, except deletions. */
export function isUnchangedSince(
  { key, rangeEnd }: { key: Buffer; rangeEnd: Buffer },
  revision: Revision,
): EtcdCompare {
  return { ...isAt(key, revision + 1), result: Compare_CompareResult.LESS, rangeEnd };
}

/** Nothing is at the key, or between it and the end. */
function isFreeFrom(key: Buffer, end: Buffer): EtcdCompare {
  return { ...isAt(key, 0), rangeEnd: end };
}

export function put(key: Buffer, value: Uint8Array | string): EtcdOperation {
  const bytes = typeof value === "string" ? Buffer.from(value) : value;
  return { request: { case: "requestPut", value: { key, value: bytes } } };
}

export function deletion(key: Buffer): EtcdOperation {
  return { request: { case: "requestDeleteRange", value: { key } } };
}

type Range = Extract<NonNullable<EtcdOperation["request"]>, { case: "requestRange" }>["value"];

export function range(value: Range): EtcdOperation {
  return { request: { case: "requestRange", value } };
}

function get(key: Buffer): EtcdOperation {
  return range({ key });
}

export function keysIn(response: ResponseOp | undefined): readonly KeyValue[] {
  return response?.response.case === "responseRange" ? response.response.value.kvs : [];
}

export function ownerOf([found]: readonly KeyValue[]): Owner | null {
  if (found === undefined) return null;
  return { ...(JSON.parse(text(found.value)) as Omit<Owner, "epoch">), epoch: Number(found.modRevision) };
}

export function copySetOf([found]: readonly KeyValue[]): CopySet | null {
  if (found === undefined) return null;
  return { nodes: JSON.parse(text(found.value)) as string[], revision: Number(found.modRevision) };
}

export function checkpointOf([found]: readonly KeyValue[]): StoredCheckpoint | null {
  if (found === undefined) return null;
  const { id, sequence, madeMs = 0 } = JSON.parse(text(found.value)) as Omit<StoredCheckpoint, "revision">;
  return { id, sequence, madeMs, revision: Number(found.modRevision) };
}

function memberText({ incarnation, counter, isFenced, address, bolt, actors }: MemberState): string {
  return JSON.stringify({ incarnation, counter, isFenced, address, bolt, actors });
}

function revisionAfter({ succeeded, header }: TxnResponse): Revision | null {
  return succeeded ? Number(header!.revision) : null;
}
