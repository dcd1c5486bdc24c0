/**
 * The part of a document collection's definition that its columns and indexes do not express: the JSON types of its
 * fields, and the paths of its indexes. Part of TableDef (table.ts); made and read by src/document.
 */

export type FieldType = "string" | "number" | "integer" | "boolean" | "date" | "object" | "array" | "vector";

/** A field that the collection's schema names. Whether it is required or unique its column and indexes say. */
export interface CollectionFieldDef {
  /** The column that has it. Null: the field is inside an object, and `path` leads there. */
  readonly columnId: number | null;
  /** Names from the document's top; of a field with a column the name that it was declared under. */
  readonly path: readonly string[];
  readonly type: FieldType;
  /** Of a field without a column. */
  readonly required?: boolean;
  /** Of an array: what its elements are. */
  readonly items?: FieldType;
  /** The column that has the vector of the field's text. */
  readonly embeddingColumnId?: number;
  /** The model that makes it; absent: the configured one. */
  readonly embeddingModel?: string;
}

export interface CollectionIndexDef {
  /** Of the IndexDef or SearchIndexDef. */
  readonly indexId: number;
  /** As the client calls it: unique within the collection, while the index's own name is unique among all relations. */
  readonly name: string;
  readonly type: "btree" | "hash" | "text" | "vector";
  /** Dotted paths. */
  readonly fields: readonly string[];
}

export interface DocumentCollectionDef {
  readonly kind: "document";
  readonly fields: readonly CollectionFieldDef[];
  readonly indexes: readonly CollectionIndexDef[];
}
