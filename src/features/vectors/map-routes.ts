/** POST /v1/vectors/map: places on a plane for the vectors of a query, computed by a thread of its own. */
import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";
import { MAP_NUMBERS_MAX, MAP_POINTS_MAX, RESULT_BYTES_MAX } from "../../protocol/limits.js";
import { resultTooLarge } from "../../protocol/size-errors.js";
import type { Batch } from "../../query/expr/expr.js";
import type { TextAnswer } from "../../session/answer.js";
import { Session } from "../../session/session.js";
import { sessionOptions } from "../../session/session-options.js";
import type { ResultShape, Rows, RowsWeight } from "../../session/sql-result.js";
import type { ParameterValues } from "../../session/statement-run.js";
import type { MapMethod, VectorMap } from "../../vector/map/map-vectors.js";
import { runOf } from "../statements/run-body.js";
import { metricIn } from "./vector-collection.js";

export const vectorMapHandlers = {
  "vectors.map": (request, { body }) => mapQuery(request, body as MapBody),
} satisfies Handlers;

interface MapBody {
  readonly sql: string;
  readonly parameters?: ParameterValues;
  readonly params?: ParameterValues;
  readonly column?: string;
  readonly metric?: string;
  readonly method?: MapMethod;
  readonly max_points?: number;
}

/** Of this thread: a tenant has one map at a time, from its query to its answer. */
const busy = new WeakSet<Request["tenant"]>();

const NO_PLACES: VectorMap = { x: "[]", y: "[]" };

async function mapQuery(request: Request, body: MapBody): Promise<TextAnswer> {
  const { tenant } = request;
  const mapVectors = request.partition.tasks?.mapVectors;
  if (mapVectors === undefined) {
    throw new DbError("not_supported", "Maps cannot be computed here: the server has no task threads.");
  }
  const metric = metricIn("metric", body.metric ?? "cosine");
  if (busy.has(tenant)) {
    throw new DbError("overloaded", "Another map of this tenant is being computed; retry when it is there.", {
      retry_after_seconds: 2,
    });
  }
  busy.add(tenant);
  try {
    const { rows, truncated } = await readVectors(request, body);
    const { dimensions, codes, scales } = rows;
    const byDirection = metric === "cosine" || metric === "dot";
    const job = { dimensions, codes, scales, byDirection, method: body.method ?? "neighbours" };
    const { x, y } = codes.length === 0 ? NO_PLACES : await mapVectors(job, request.signal());
    request.checkpoint();
    const head = JSON.stringify({ columns: rows.columns, column: rows.columnName, dimensions, truncated });
    return { json: `${head.slice(0, -1)},"x":${x},"y":${y},"rows":[${rows.text}]}` };
  } finally {
    busy.delete(tenant);
  }
}

async function readVectors(
  request: Request,
  { column, max_points: maxRows = MAP_POINTS_MAX, ...statement }: MapBody,
): Promise<{ readonly rows: VectorRows; readonly truncated: boolean }> {
  const session = new Session(request.tenant, { ...sessionOptions(request, "routes"), readOnly: true });
  const { sql, parameters, params } = statement;
  const asked = { sql, ...(parameters && { parameters }), ...(params && { params }) };
  const run = runOf(request, asked, { max_rows: maxRows }, (shape) => new VectorRows(shape, column, maxRows));
  const { rows, truncated } = await session.execute(run, (tx) => request.tenant.rollback(tx));
  if (!(rows instanceof VectorRows)) {
    throw new DbError("invalid_request", 'The field "sql" must be a query, which has rows.', { field: "sql" });
  }
  rows.finish();
  return { rows, truncated };
}

/** Of a part, which is moved to the task thread as it is. */
const PART_NUMBERS = 1_000_000;
const CODE_MAX = 127;

/** Keeps the vectors of a query as bytes, which is exact enough for a map, and its other columns as JSON. */
class VectorRows implements Rows {
  readonly codes: Int8Array<ArrayBuffer>[] = [];
  readonly scales: Float32Array<ArrayBuffer>[] = [];
  readonly columns: ResultShape["columns"];
  readonly columnName: string;
  readonly weight: RowsWeight;
  text = "";
  /** 0: there was no vector yet. */
  dimensions = 0;
  private readonly place: number;
  private readonly writers: ResultShape["json"];
  private partRows = 0;
  /** Rows of the last part. */
  private used = 0;

  constructor(
    { outputs, columns, json, heavy }: ResultShape,
    column: string | undefined,
    private readonly rowsMax: number,
  ) {
    this.place = outputs.findIndex(
      ({ name, type }) => type.name === "vector" && (column === undefined || name === column),
    );
    if (this.place < 0) throw noVectors(column, columns);
    this.columnName = columns[this.place]!.name;
    this.columns = columns.filter((_, c) => c !== this.place);
    this.writers = json;
    this.weight = { outputs, heavy, writesJson: false };
  }

  append({ columns }: Batch, count: number): number {
    const { writers, place } = this;
    const before = this.text.length;
    let { text } = this;
    for (let r = 0; r < count; r++) {
      const vector = columns[place]![r] as Float32Array | null;
      if (vector === null) continue;
      this.add(vector);
      text += text === "" ? "[" : ",[";
      let isFirst = true;
      for (let c = 0; c < writers.length; c++) {
        if (c === place) continue;
        const value = columns[c]![r] ?? null;
        if (!isFirst) text += ",";
        isFirst = false;
        text += value === null ? "null" : writers[c]!(value);
      }
      text += "]";
    }
    this.text = text;
    if (text.length > RESULT_BYTES_MAX) throw resultTooLarge();
    return text.length - before + count * this.dimensions;
  }

  private add(vector: Float32Array): void {
    if (this.dimensions === 0) this.begin(vector.length);
    if (vector.length !== this.dimensions) {
      const lengths = `${this.dimensions} and ${vector.length}`;
      throw new DbError("invalid_request", `The vectors have different dimensions, such as ${lengths}.`, {
        field: "sql",
      });
    }
    if (this.used === this.partRows) this.addPart();
    let most = 0;
    for (const value of vector) most = Math.max(most, Math.abs(value));
    const part = this.codes.at(-1)!;
    const from = this.used * vector.length;
    const scale = most === 0 ? 0 : CODE_MAX / most;
    for (let d = 0; d < vector.length; d++) part[from + d] = Math.round(vector[d]! * scale);
    this.scales.at(-1)![this.used++] = most / CODE_MAX;
  }

  private begin(dimensions: number): void {
    this.dimensions = dimensions;
    this.partRows = Math.max(1, Math.min(this.rowsMax, Math.floor(PART_NUMBERS / dimensions)));
    this.used = this.partRows;
  }

  private addPart(): void {
    if ((this.codes.length + 1) * this.partRows * this.dimensions > MAP_NUMBERS_MAX + PART_NUMBERS) {
      const most = Math.floor(MAP_NUMBERS_MAX / this.dimensions);
      throw new DbError(
        "invalid_request",
        `A map holds at most ${most} vectors of ${this.dimensions} dimensions. Send "max_points": ${most}.`,
        { field: "max_points" },
      );
    }
    this.codes.push(new Int8Array(this.partRows * this.dimensions));
    this.scales.push(new Float32Array(this.partRows));
    this.used = 0;
  }

  /** Cuts the last part to what it holds. */
  finish(): void {
    if (this.codes.length === 0) return;
    const last = this.codes.length - 1;
    this.codes[last] = this.codes[last]!.slice(0, this.used * this.dimensions);
    this.scales[last] = this.scales[last]!.slice(0, this.used);
  }
}

function noVectors(column: string | undefined, columns: ResultShape["columns"]): DbError {
  const names = columns.map(({ name, data_type: type }) => `${name} ${type}`).join(", ");
  const message =
    column === undefined
      ? `The query returns no column of the type vector. Its columns: ${names || "none"}.`
      : `The query returns no column "${column}" of the type vector. Its columns: ${names || "none"}.`;
  return new DbError("invalid_request", message, { field: column === undefined ? "sql" : "column" });
}
