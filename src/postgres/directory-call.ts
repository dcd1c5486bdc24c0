/** A request of a connection that has no caller yet to the directory: sign-in. Called by sign-in.ts. */
import { ActorCall } from "../gateway/actor-call.js";
import type { Loss, PendingReply } from "../gateway/actor-link.js";
import { DIRECTORY_PARTITION } from "../gateway/actor-pool.js";
import { HEAD_OF_NOBODY } from "../gateway/admission.js";
import type { SentFrames } from "../gateway/sent-frames.js";
import type { Services } from "../gateway/services.js";
import type { Endpoint } from "../protocol/endpoint.js";
import { ENDPOINTS, type EndpointName, WIRE } from "../protocol/endpoints.js";
import { DbError, type ErrorCode } from "../protocol/errors.js";
import { encodeHead, REPLY_MOVED, type ReplyFrame } from "../protocol/frames.js";

const ANSWER_MS = 30_000;

const BY_NAME = new Map([...ENDPOINTS, ...WIRE].map((endpoint) => [endpoint.name, endpoint]));

interface Refusal {
  readonly error?: { readonly code: ErrorCode; readonly message: string };
}

/** The answer's JSON. Rejects with DbError. */
export async function askDirectory<T>(
  services: Services,
  name: EndpointName,
  body: object,
  address: string,
): Promise<T> {
  const text = await new Promise<string>((resolve, reject) => {
    new DirectoryCall(services, BY_NAME.get(name)!, resolve, reject).begin(Buffer.from(JSON.stringify(body)), address);
  });
  const said = JSON.parse(text) as T & Refusal;
  const error = said?.error;
  if (error !== undefined) throw new DbError(error.code, error.message);
  return said;
}

class DirectoryCall implements PendingReply {
  keptIn: SentFrames | null = null;
  suspicions = 0;
  readonly ofDirectory = true;
  readonly repeatable = "never";
  readonly tenantId = null;
  readonly requestId: string;
  private readonly call: ActorCall;
  private send!: (body: Buffer) => void;

  constructor(
    private readonly services: Services,
    private readonly endpoint: Endpoint,
    private readonly answered: (body: string) => void,
    private readonly refused: (error: DbError) => void,
  ) {
    this.requestId = services.requestIds.of("");
    this.call = new ActorCall(services, this);
  }

  begin(body: Buffer, address: string): void {
    const { services, call, requestId, endpoint } = this;
    if (!services.pool.takes(DIRECTORY_PARTITION) || !call.reserve(DIRECTORY_PARTITION, body, false)) {
      this.refused(new DbError("partition_unavailable", "Credentials cannot be checked at the moment; retry shortly."));
      return;
    }
    const head = encodeHead(HEAD_OF_NOBODY, "", address, "", []);
    const deadlineMs = services.clock.wall() + ANSWER_MS;
    this.send = (sent) => call.send({ code: endpoint.code, flags: 0, tenant: 0, deadlineMs, requestId, head }, sent);
    this.send(body);
  }

  replied({ flags, body }: ReplyFrame): void {
    // In a cluster the directory's partition may have got another owner.
    if ((flags & REPLY_MOVED) !== 0 && this.call.moveTo(DIRECTORY_PARTITION)) {
      this.send(Buffer.from(body));
      return;
    }
    this.call.release();
    if ((flags & REPLY_MOVED) !== 0) {
      this.refused(new DbError("partition_unavailable", "Credentials cannot be checked at the moment; retry shortly."));
      return;
    }
    this.answered(body.toString("utf8"));
  }

  progressed(): void {}

  lost(loss?: Loss): void {
    this.call.release();
    this.refused(new DbError(loss?.code ?? "partition_unavailable", loss?.message));
  }
}
