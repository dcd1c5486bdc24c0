/**
 * A query's answer as one JSON document that is too long to be held: once its rows are as many bytes as a client may leave
 * unread, what there is leaves, and the rest follows as the client reads. An error after that cuts the connection, since
 * the status is out. Most answers never get there, and are made as any other. One per statement; used by its handler.
 */

import { type Answer, metaJson, STREAMED } from "../../actor/reply.js";
import type { ReplySink } from "../../actor/reply-sink.js";
import type { Request } from "../../actor/request.js";
import type { Batch } from "../../query/expr/expr.js";
import {
  elapsedSince,
  JsonRows,
  type Outcome,
  type ResultShape,
  type RowCollector,
  resultTail,
} from "../../session/sql-result.js";

const PIECE_CHARS = 64 * 1024;

export class LongDocument {
  private sink: ReplySink | null = null;

  constructor(private readonly request: Request) {}

  /** The reply has begun: it ends with `finish`. */
  get begun(): boolean {
    return this.sink !== null;
  }

  readonly collector: RowCollector = (shape, streamable = false) => {
    return streamable ? new LongRows(shape, this) : new JsonRows(shape);
  };

  /** Bytes, roughly, above which rows are not held. */
  get heldMax(): number {
    return this.request.partition.config.limits.replyBytesPerConnectionMax;
  }

  /** Sends rows, which are JSON texts with commas between. */
  async send(shape: ResultShape, rows: string): Promise<void> {
    if (this.sink === null) {
      this.sink = await this.request.openReply("application/json", []);
      await this.write(`{"data":{"columns":${shape.columnsJson},"rows":[${rows}`);
    } else await this.write(`,${rows}`);
    // The client was waited for, perhaps; the work goes on in a turn of the tenant's.
    await this.request.yieldTurn();
  }

  /** Sends what is left. */
  async finish(outcome: Outcome, startedMs: number): Promise<Answer> {
    const { json } = outcome.rows;
    const tail = `]${resultTail(outcome, elapsedSince(startedMs))}},${metaJson(this.request.requestId)}}`;
    await this.write(json === "" ? tail : `,${json}${tail}`);
    this.sink!.end();
    return STREAMED;
  }

  private async write(text: string): Promise<void> {
    for (let at = 0; at < text.length; ) {
      let end = at + PIECE_CHARS;
      // The halves of a surrogate pair stay together.
      if (text.charCodeAt(end - 1) >> 10 === 0x36) end++;
      await this.sink!.write(Buffer.from(text.slice(at, end)));
      this.request.checkpoint();
      at = end;
    }
  }
}

class LongRows extends JsonRows {
  constructor(
    private readonly shape: ResultShape,
    private readonly document: LongDocument,
  ) {
    super(shape);
  }

  /** Rows that leave take no memory of the statement's. */
  override append(batch: Batch, count: number): number {
    const bytes = super.append(batch, count);
    return this.document.begun ? 0 : bytes;
  }

  room(): Promise<void> | undefined {
    const heldMax = this.document.begun ? PIECE_CHARS : this.document.heldMax;
    if (this.json.length < heldMax) return undefined;
    const { json } = this;
    this.json = "";
    return this.document.send(this.shape, json);
  }
}
