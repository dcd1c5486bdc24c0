/** Relationships as values, for walks that hand them on: those of a run, by id, read once. */
import { EDGE_COLUMN } from "../../catalog/graph.js";
import { encodeKey } from "../../storage/key-codec.js";
import type { RecordDecoder } from "../../storage/record-codec.js";
import type { Value } from "../../values/values.js";
import { GraphRelationship, type VariantMap } from "../../values/variant.js";
import type { ExecContext } from "./context.js";
import { decoderOf, type TableLayout } from "./table-layout.js";

const REMEMBERED_MAX = 65_536;
/** Of a relationship beside its record. */
const BYTES_EACH = 160;

export interface EdgeRecordsProgram {
  readonly layout: TableLayout;
  readonly decode: RecordDecoder;
}

export function compileEdgeRecords(layout: TableLayout): EdgeRecordsProgram {
  const { type, src, dst, properties } = EDGE_COLUMN;
  return { layout, decode: decoderOf(layout, [type, src, dst, properties]) };
}

export class EdgeRecords {
  private readonly remembered = new Map<number, GraphRelationship>();
  private readonly fields: Value[][] = [[], [], [], []];
  /** Reserved for what is remembered. */
  private bytes = 0;

  constructor(
    private readonly program: EdgeRecordsProgram,
    private readonly context: ExecContext,
  ) {}

  /** By an id that the transaction sees. */
  get(id: number): GraphRelationship {
    const known = this.remembered.get(id);
    if (known !== undefined) return known;
    const record = this.context.tx.get(this.keyOf(id));
    if (record === undefined) throw new Error(`relationship ${id} is indexed but has no record`);
    return this.remember(id, record);
  }

  /** The same for several; reads those that are not known yet together. */
  load(ids: ArrayLike<number>, length: number): void {
    const missing: number[] = [];
    for (let i = 0; i < length; i++) if (!this.remembered.has(ids[i]!)) missing.push(ids[i]!);
    if (missing.length === 0) return;
    const records = this.context.tx.getMany(missing.map((id) => this.keyOf(id)));
    for (let i = 0; i < missing.length; i++) {
      const record = records[i];
      if (record !== undefined) this.remember(missing[i]!, record);
    }
  }

  /** Gives its memory back; it may be used again. */
  close(): void {
    this.remembered.clear();
    this.context.statement.release(this.bytes);
    this.bytes = 0;
  }

  private remember(id: number, record: Uint8Array): GraphRelationship {
    if (this.remembered.size >= REMEMBERED_MAX) this.close();
    const bytes = BYTES_EACH + record.length;
    this.bytes += bytes;
    this.context.statement.reserve(bytes);
    this.program.decode(record, this.fields, 0);
    const [type, src, dst, properties] = this.fields.map(([value]) => value);
    const found = new GraphRelationship(
      id,
      type as string,
      src as number,
      dst as number,
      properties as unknown as VariantMap,
    );
    this.remembered.set(id, found);
    return found;
  }

  private keyOf(id: number): Uint8Array {
    const { primaryKey } = this.program.layout;
    return encodeKey(primaryKey!.prefixOf(this.context.tenantNumber), primaryKey!.columns, [id]);
  }
}
