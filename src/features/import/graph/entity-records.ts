/**
 * Records of nodes and relationships straight from the fields of a file, without an object or a value for each. For
 * graphs whose tables have neither computed keys nor requirements of properties. One per kind of files; owned by
 * graph-import.ts.
 */
import { EDGE_COLUMN, graphDefOf, NODE_COLUMN } from "../../../catalog/graph.js";
import type { TableDef } from "../../../catalog/table.js";
import { BulkWriter } from "../../../query/exec/bulk-writer.js";
import { readDecimal, readInteger } from "../../../query/exec/field-readers.js";
import { GraphRequirements } from "../../../query/exec/graph-requirements.js";
import { MapBytes } from "../../../storage/map-bytes.js";
import { RecordSlab } from "../../../storage/record-slab.js";
import { type CsvReader, FIELD_ESCAPED } from "../../../values/csv-reader.js";
import type { Value } from "../../../values/values.js";
import type { BulkType } from "./bulk-values.js";

/** Columns with the one that no table has, 0. */
const NODE_COLUMNS = 1 + NODE_COLUMN.properties;
const EDGE_COLUMNS = 1 + EDGE_COLUMN.properties;

export class EntityRecords {
  readonly properties = new MapBytes();
  private readonly slab = new RecordSlab();
  private readonly row: Value[];
  private kind: string | null = null;
  private kindBytes: Uint8Array = new Uint8Array(0);

  private constructor(
    private readonly isNodes: boolean,
    private readonly bulk: BulkWriter,
  ) {
    this.row = new Array<Value>(isNodes ? NODE_COLUMNS : EDGE_COLUMNS).fill(null);
  }

  /** Null: the table's rows have to be values. */
  static of(table: TableDef, bulk: BulkWriter): EntityRecords | null {
    const isNodes = graphDefOf(table)?.of === "nodes";
    const isPlain = table.nextColumnId === (isNodes ? NODE_COLUMNS : EDGE_COLUMNS);
    if (!isPlain || BulkWriter.columnsRead(table) === null || !new GraphRequirements(table).isEmpty) return null;
    return new EntityRecords(isNodes, bulk);
  }

  /** Adds a property. False, and nothing is added, if the field is not in a form that is read from bytes. */
  readField(reader: CsvReader, place: number, key: Uint8Array, { name, isList }: BulkType): boolean {
    if (isList || reader.kinds[place] === FIELD_ESCAPED) return false;
    const { bytes, starts, ends } = reader;
    const start = starts[place]!;
    const end = ends[place]!;
    switch (name) {
      case "string":
        return this.properties.text(key, bytes, start, end);
      case "int":
      case "integer":
      case "long": {
        const value = readInteger(bytes, start, end);
        if (value === undefined || value !== (value | 0)) return false;
        this.properties.integer(key, value);
        return true;
      }
      case "float":
      case "double": {
        const value = readDecimal(bytes, start, end);
        if (value === undefined) return false;
        this.properties.float(key, value);
        return true;
      }
      default:
        return false;
    }
  }

  /** With the properties that were added. */
  store(id: number, kind: string, src: number, dst: number): void {
    const { slab, row, isNodes, bulk } = this;
    if (kind !== this.kind) {
      this.kind = kind;
      this.kindBytes = Buffer.from(kind);
    }
    slab.begin(row.length);
    slab.null(0);
    slab.integer(id);
    slab.text(this.kindBytes, 0, this.kindBytes.length);
    row[NODE_COLUMN.id] = id;
    row[isNodes ? NODE_COLUMN.labels : EDGE_COLUMN.type] = kind;
    if (!isNodes) {
      slab.integer(src);
      slab.integer(dst);
      row[EDGE_COLUMN.src] = src;
      row[EDGE_COLUMN.dst] = dst;
    }
    slab.map(this.properties);
    bulk.add(row, slab.finish());
  }
}
