/**
 * A body that is a Parquet or Arrow file. Both have to be read here and there, so it goes to a temporary file first;
 * task threads then read its rows as lines of JSON, an array each, which the import takes as those of NDJSON.
 */
import { randomUUID } from "node:crypto";
import type { Request } from "../../actor/request.js";
import type { ColumnarTasks, FileShape, RowFile, RowPlace } from "../../ingest/columnar/contract.js";
import { DbError } from "../../protocol/errors.js";
import type { SpillFile } from "../../query/exec/spill/spill-area.js";

export class ColumnarFile {
  private constructor(
    private readonly request: Request,
    private readonly spilled: SpillFile,
    private readonly tasks: ColumnarTasks,
    private readonly file: RowFile,
    readonly shape: FileShape,
  ) {}

  /** Throws invalid_request for a file that cannot be read, 53400 and disk_full where it has no room. */
  static async received(
    request: Request,
    pieces: AsyncIterable<Uint8Array>,
    format: RowFile["format"],
  ): Promise<ColumnarFile> {
    const { spill, tasks } = request.partition;
    const columnar = tasks?.columnar;
    if (spill === null || columnar === undefined) {
      throw new DbError("not_supported", `This process has no place for files of ${format}.`);
    }
    const spilled = spill.open({ spilledBytes: 0 });
    try {
      for await (const piece of pieces) {
        spilled.write(piece);
        await request.yieldTurn();
      }
      const { descriptor, cipher, length: bytes } = spilled;
      const file = { id: randomUUID(), descriptor, bytes, format, ...(cipher !== null && { cipher }) };
      return new ColumnarFile(request, spilled, columnar, file, await columnar.describe(file, request.signal()));
    } catch (error) {
      spilled.close();
      throw error;
    }
  }

  async *lines(): AsyncIterable<Uint8Array> {
    for (let from: RowPlace | null = { part: 0, row: 0 }; from !== null; ) {
      const job = { file: this.file, columns: null, from, rowsMax: Number.MAX_SAFE_INTEGER };
      const piece = await this.tasks.rows(job, this.request.signal());
      if (piece.rows > 0) yield piece.lines;
      from = piece.next;
    }
  }

  close(): void {
    this.spilled.close();
  }
}
