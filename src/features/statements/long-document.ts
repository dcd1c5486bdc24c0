/**
 * A query's answer as one JSON document that is too long to be held. Once its rows are as many bytes as a client may
 * leave unread, they are sent, and the rest follows as the client reads. An error after that cuts the connection,
 * because the status has been sent. Most answers never get so long, and are made like any other. One per statement;
 * used by its handler.
 */

import { metaJson } from "../../actor/reply.js";
import type { ReplySink } from "../../actor/reply-sink.js";
import type { Request } from "../../actor/request.js";
import type { Batch } from "../../query/expr/expr.js";
import { type Answer, STREAMED } from "../../session/answer.js";
import {
  elapsedSince,
  JsonRows,
  type Outcome,
  type ResultShape,
  type RowCollector,
  resultTail,
} from "../../session/sql-result.js";
import type { Value } from "../../values/values.js";
import { WrittenJson } from "../../values/written-json.js";

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

  /** Sends rows, which are JSON texts with commas between, in one or more pieces. */
  async send(shape: ResultShape, rows: readonly string[]): Promise<void> {
    const [first, ...others] = rows as readonly [string, ...string[]];
    if (this.sink === null) {
      this.sink = await this.request.openReply("application/json", []);
      await this.write(`{"data":{"columns":${shape.columnsJson},"rows":[${first}`);
    } else await this.write(`,${first}`);
    for (const piece of others) {
      await this.write(piece);
      if (this.request.shouldYield()) await this.request.yieldTurn();
    }
    // The client was waited for, perhaps; the work goes on in a turn of the tenant's.
    await this.request.yieldTurn();
  }

  /** Sends what is left. */
  async finish(outcome: Outcome, startedMs: number): Promise<Answer<never>> {
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
  /** Rows that end with one that is too long to be held, in pieces. */
  private waiting: string[] | null = null;

  constructor(
    private readonly shape: ResultShape,
    private readonly document: LongDocument,
  ) {
    super(shape);
  }

  /** Rows that leave take no memory of the statement's. */
  override append(batch: Batch, count: number): number {
    if (count === 1 && this.isLong(batch)) {
      this.appendPieces(batch);
      return 0;
    }
    const bytes = super.append(batch, count);
    return this.document.begun ? 0 : bytes;
  }

  private isLong({ columns }: Batch): boolean {
    let length = 0;
    for (const [value] of columns as readonly (readonly unknown[])[]) {
      if (value instanceof WrittenJson) length += value.length;
    }
    return length >= this.document.heldMax;
  }

  private appendPieces({ columns }: Batch): void {
    const pieces = [`${this.json}${this.json === "" ? "[" : ",["}`];
    for (const [c, [value]] of (columns as readonly (readonly Value[])[]).entries()) {
      if (c > 0) pieces.push(",");
      if ((value as unknown) instanceof WrittenJson) {
        for (const piece of (value as unknown as WrittenJson).pieces) pieces.push(piece);
      } else pieces.push(value === null ? "null" : this.writers[c]!(value!));
    }
    pieces.push("]");
    this.json = "";
    this.count++;
    this.waiting = pieces;
  }

  room(): Promise<void> | undefined {
    if (this.waiting !== null) {
      const pieces = this.waiting;
      this.waiting = null;
      return this.document.send(this.shape, pieces);
    }
    const heldMax = this.document.begun ? PIECE_CHARS : this.document.heldMax;
    if (this.json.length < heldMax) return undefined;
    const { json } = this;
    this.json = "";
    return this.document.send(this.shape, [json]);
  }
}
