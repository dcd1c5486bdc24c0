/**
 * Calls of etcd's API over gRPC. Each has a deadline, and connections are kept under watch by HTTP/2 pings, so that one
 * whose peer has vanished is found out. Calls go to one member until it fails; the next call then goes to the next one.
 * Those that say so go to the member that leads. No call is repeated here: whoever made it knows whether that is safe.
 */
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Client, type ClientDuplexStream, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { DbError } from "../protocol/errors.js";
import type { EtcdTls } from "../protocol/messages.js";
import {
  AlarmRequest_AlarmAction,
  AlarmRequestSchema,
  AlarmResponseSchema,
  AlarmType,
  CompactionRequestSchema,
  CompactionResponseSchema,
  DefragmentRequestSchema,
  DefragmentResponseSchema,
  RangeRequestSchema,
  type RangeResponse,
  RangeResponseSchema,
  StatusRequestSchema,
  type StatusResponse,
  StatusResponseSchema,
  TxnRequestSchema,
  type TxnResponse,
  TxnResponseSchema,
  type WatchRequest,
  WatchRequestSchema,
  type WatchResponse,
  WatchResponseSchema,
} from "./etcd_pb.js";
import type { MemberStatus } from "./etcd-health.js";
import { EtcdLeader } from "./etcd-leader.js";

export interface EtcdClientOptions {
  /** host:port of the members' client addresses. */
  readonly endpoints: readonly string[];
  readonly deadlineMs?: number;
  /** Absent: without TLS. */
  readonly tls?: EtcdTls | undefined;
}

/** One call of etcd's Watch. */
export interface WatchStream {
  write(request: MessageInitShape<typeof WatchRequestSchema>): void;
  on(event: "data", heard: (answer: WatchResponse) => void): unknown;
  on(event: "error" | "end", ended: () => void): unknown;
  cancel(): void;
}

/** etcd's NOSPACE alarm stands: it takes no writes, and has not done this one. */
export class EtcdFull extends Error {}

const DEADLINE_MS = 3000;
/** Of defragmenting a member, which stands still meanwhile. */
const DEFRAGMENT_MS = 60_000;
const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;

const CHANNEL = {
  // Nothing is repeated, and nobody asks what the library counts: both would cost each call.
  "grpc.enable_retries": 0,
  "grpc.enable_channelz": 0,
  "grpc.keepalive_time_ms": 10_000,
  "grpc.keepalive_timeout_ms": 2000,
  "grpc.initial_reconnect_backoff_ms": 50,
  "grpc.max_reconnect_backoff_ms": 1000,
  "grpc.max_receive_message_length": MESSAGE_BYTES_MAX,
  "grpc.max_send_message_length": MESSAGE_BYTES_MAX,
};

export class EtcdClient {
  private readonly members: readonly { readonly endpoint: string; readonly client: Client }[];
  private readonly deadlineMs: number;
  private readonly watches = new Set<ClientDuplexStream<WatchRequest, WatchResponse>>();
  private readonly leader = new EtcdLeader(() => this.findLeader());
  private current = 0;
  private isClosed = false;

  constructor({ endpoints, deadlineMs = DEADLINE_MS, tls }: EtcdClientOptions) {
    if (endpoints.length === 0)
      throw new DbError("invalid_request", "The cluster needs the address of an etcd member.");
    this.deadlineMs = deadlineMs;
    const { authority, key, certificate } = tls ?? {};
    const bytes = (text: string | undefined): Buffer | null => (text === undefined ? null : Buffer.from(text));
    const trust =
      tls === undefined
        ? credentials.createInsecure()
        : credentials.createSsl(bytes(authority), bytes(key), bytes(certificate));
    this.members = endpoints.map((endpoint) => ({ endpoint, client: new Client(endpoint, trust, CHANNEL) }));
  }

  txn(request: MessageInitShape<typeof TxnRequestSchema>): Promise<TxnResponse> {
    return this.call("KV/Txn", TxnRequestSchema, TxnResponseSchema, request);
  }

  /** For a write that somebody waits for. To any member as long as the leader is not known. */
  async txnAtLeader(request: MessageInitShape<typeof TxnRequestSchema>): Promise<TxnResponse> {
    const member = this.leader.member ?? this.current;
    try {
      const answer = await this.call("KV/Txn", TxnRequestSchema, TxnResponseSchema, request, { member });
      this.leader.heard(answer.header?.raftTerm ?? 0n);
      return answer;
    } catch (error) {
      this.leader.failed(member);
      throw error;
    }
  }

  /** Never rejects. */
  private async findLeader(): Promise<number | null> {
    let leader: number | null = null;
    let term = 0n;
    for (const [member, answer] of (await this.statuses()).entries()) {
      const { memberId, raftTerm } = answer?.header ?? { memberId: 0n, raftTerm: 0n };
      if (answer?.leader !== memberId || raftTerm <= term) continue;
      [leader, term] = [member, raftTerm];
    }
    return leader;
  }

  range(request: MessageInitShape<typeof RangeRequestSchema>): Promise<RangeResponse> {
    return this.call("KV/Range", RangeRequestSchema, RangeResponseSchema, request);
  }

  /** Drops what was overwritten or deleted before that revision, unless somebody else has done so. */
  async compact(revision: bigint): Promise<void> {
    const request = { revision, physical: true };
    try {
      await this.call("KV/Compact", CompactionRequestSchema, CompactionResponseSchema, request);
    } catch (error) {
      if (!/has been compacted/.test((error as Error).message)) throw error;
    }
  }

  status(): Promise<StatusResponse> {
    return this.call("Maintenance/Status", StatusRequestSchema, StatusResponseSchema, {});
  }

  /** Each member by itself. */
  async memberStatus(): Promise<readonly MemberStatus[]> {
    const answers = await this.statuses();
    return this.members.map(({ endpoint }, member) => ({ endpoint, version: answers[member]?.version ?? null }));
  }

  /** By member; null: it does not answer. */
  private statuses(): Promise<readonly (StatusResponse | null)[]> {
    const asked = this.members.map((_, member) =>
      this.call("Maintenance/Status", StatusRequestSchema, StatusResponseSchema, {}, { member }).catch(() => null),
    );
    return Promise.all(asked);
  }

  /** The ids of members that have run out of space. */
  async membersWithoutSpace(): Promise<readonly bigint[]> {
    const request = { action: AlarmRequest_AlarmAction.GET, alarm: AlarmType.NOSPACE };
    const { alarms } = await this.call("Maintenance/Alarm", AlarmRequestSchema, AlarmResponseSchema, request);
    return alarms.filter(({ alarm }) => alarm === AlarmType.NOSPACE).map(({ memberID }) => memberID);
  }

  async disarm(memberID: bigint): Promise<void> {
    const request = { action: AlarmRequest_AlarmAction.DEACTIVATE, memberID, alarm: AlarmType.NOSPACE };
    await this.call("Maintenance/Alarm", AlarmRequestSchema, AlarmResponseSchema, request);
  }

  /** Gives free pages back to the file system, one member after the other. */
  async defragment(): Promise<void> {
    for (const [member] of this.members.entries()) {
      const options = { member, deadlineMs: DEFRAGMENT_MS };
      await this.call("Maintenance/Defragment", DefragmentRequestSchema, DefragmentResponseSchema, {}, options);
    }
  }

  /** At the member that calls go to. It ends, with an error, as soon as they go to another. */
  watch(): WatchStream {
    const stream = this.members[this.current]!.client.makeBidiStreamRequest(
      "/etcdserverpb.Watch/Watch",
      (message: WatchRequest) => Buffer.from(toBinary(WatchRequestSchema, message)),
      (bytes: Buffer) => fromBinary(WatchResponseSchema, bytes),
      metadataOfCalls(),
    );
    this.watches.add(stream);
    stream.on("error", () => this.watches.delete(stream));
    stream.on("end", () => this.watches.delete(stream));
    return {
      write: (request) => void stream.write(create(WatchRequestSchema, request)),
      on: (event: string, heard: (answer: WatchResponse) => void) => stream.on(event, heard),
      cancel: () => stream.cancel(),
    };
  }

  /** Calls that are made later fail as those do that reach nobody. */
  close(): void {
    this.isClosed = true;
    this.endWatches();
    for (const { client } of this.members) client.close();
  }

  private call<Q extends DescMessage, A extends DescMessage>(
    method: string,
    requestType: Q,
    answerType: A,
    request: MessageInitShape<Q>,
    { member = this.current, deadlineMs = this.deadlineMs } = {},
  ): Promise<MessageShape<A>> {
    const { endpoint, client } = this.members[member]!;
    if (this.isClosed) {
      return Promise.reject(new DbError("log_unavailable", `etcd at ${endpoint}, ${method}: this node shuts down`));
    }
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        `/etcdserverpb.${method}`,
        (message: MessageShape<Q>) => Buffer.from(toBinary(requestType, message)),
        (bytes: Buffer) => fromBinary(answerType, bytes),
        create(requestType, request),
        metadataOfCalls(),
        { deadline: Date.now() + deadlineMs },
        (error, answer) => {
          if (error === null && answer !== undefined) resolve(answer);
          else reject(this.failureOf(method, endpoint, member, error!));
        },
      );
    });
  }

  private failureOf(method: string, endpoint: string, member: number, error: ServiceError): Error {
    const why = `etcd at ${endpoint}, ${method}: ${error.details}`;
    if (/space exceeded/.test(error.details)) return new EtcdFull(why);
    const isOurs = error.code === status.INVALID_ARGUMENT || error.code === status.UNIMPLEMENTED;
    if (isOurs || /larger than max/.test(error.details)) return new DbError("internal_error", why);
    if (member === this.current) {
      this.current = (member + 1) % this.members.length;
      this.endWatches();
    }
    return new DbError("log_unavailable", `The replicated log does not answer (${why}).`);
  }

  private endWatches(): void {
    for (const stream of this.watches) stream.cancel();
  }
}

function metadataOfCalls(): Metadata {
  const metadata = new Metadata();
  // A member that is cut off from the others says so at once.
  metadata.set("hasleader", "true");
  return metadata;
}
