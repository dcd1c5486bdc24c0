/** The values of sequences, as one statement takes and sets them: nextval, currval, lastval and setval. */
import type { CatalogView } from "../catalog/catalog-view.js";
import { changedByCypher, isGraphSchema } from "../catalog/graph.js";
import { descendantsOf } from "../catalog/inheritance.js";
import { parseRelationName } from "../catalog/relation-names.js";
import { permissionDenied } from "../catalog/rights.js";
import type { Privilege } from "../catalog/role.js";
import { isTemporarySchema } from "../catalog/schema.js";
import type { SequenceDef, SequenceNumber } from "../catalog/sequence.js";
import { mayUseSequence } from "../catalog/sequence-rights.js";
import type { TableDef } from "../catalog/table.js";
import { sqlError } from "../protocol/errors.js";
import { greatestTaken } from "../query/exec/free-value.js";
import { idOfOid } from "../query/expr/types.js";
import type { SequenceValues } from "../sql/bind/sequence-functions.js";
import type { Transaction } from "../storage/store.js";
import type { SessionMemory } from "./session-memory.js";

export class StatementSequences implements SequenceValues {
  /** The table whose key was assigned last, and those that have its rows. */
  private following: { readonly table: TableDef; readonly tables: readonly TableDef[] } | null = null;

  constructor(
    private readonly memory: SessionMemory,
    private readonly tx: Transaction,
  ) {}

  next(name: string): SequenceNumber {
    const { memory } = this;
    const { tenant } = memory;
    const sequence = this.sequence(name, ["U", "w"]);
    this.requireWritable(sequence, "nextval()");
    const value = this.nextOf(sequence);
    // The value is not told before the block that it comes from is on disk.
    tenant.sawEverything();
    memory.sequenceValues ??= new Map();
    memory.sequenceValues.set(sequence.id, value);
    memory.lastSequence = sequence.id;
    return value;
  }

  private nextOf(sequence: SequenceDef): SequenceNumber {
    const { tenant } = this.memory;
    const { sequences } = tenant.partition;
    const value = sequences.next(tenant.number, sequence);
    const table = sequence.follows === true ? this.catalogView().tableById(sequence.ownedBy!.tableId) : null;
    if (table === null) return value;
    if (this.following?.table !== table) {
      const tables = table.partitionKey === undefined ? [table] : descendantsOf(table, this.catalogView());
      this.following = { table, tables };
    }
    const taken = greatestTaken(sequence, value, table, this.following.tables, this.tx, tenant.number);
    if (taken === null) return value;
    sequences.set(tenant.number, sequence, { last: taken, called: true });
    return sequences.next(tenant.number, sequence);
  }

  current(name: string): SequenceNumber {
    const sequence = this.sequence(name, ["U", "r"]);
    const value = this.memory.sequenceValues?.get(sequence.id);
    if (value !== undefined) return value;
    throw sqlError("55000", `currval of sequence "${sequence.name}" is not yet defined in this session`);
  }

  last(): SequenceNumber {
    const { sequenceValues, lastSequence } = this.memory;
    const value = lastSequence === null ? undefined : sequenceValues?.get(lastSequence);
    if (
      value !== undefined &&
      this.catalogView()
        .sequences()
        .some(({ id }) => id === lastSequence)
    )
      return value;
    throw sqlError("55000", "lastval is not yet defined in this session");
  }

  set(name: string, value: SequenceNumber, called: boolean): SequenceNumber {
    const { memory } = this;
    const { tenant } = memory;
    const sequence = this.sequence(name, ["w"]);
    this.requireWritable(sequence, "setval()");
    tenant.partition.sequences.set(tenant.number, sequence, { last: value, called });
    tenant.sawEverything();
    if (called) {
      memory.sequenceValues ??= new Map();
      memory.sequenceValues.set(sequence.id, value);
    }
    return value;
  }

  private requireWritable(sequence: SequenceDef, what: string): void {
    if (isGraphSchema(sequence.schema)) throw changedByCypher(sequence.schema, 0);
    if (!this.memory.settings.modes.readOnly || isTemporarySchema(sequence.schema)) return;
    throw sqlError("25006", `cannot execute ${what} in a read-only transaction`);
  }

  /** Throws 42501 unless the session has one of these privileges. */
  private sequence(text: string, privileges: readonly Privilege[]): SequenceDef {
    const sequence = this.named(text);
    if (mayUseSequence(sequence, privileges, this.memory.rights(this.catalogView()))) return sequence;
    throw permissionDenied("sequence", sequence.name);
  }

  /** By name, looked up in the search path when it has no schema, or by OID in digits. Throws 42P01, 42809. */
  private named(text: string): SequenceDef {
    const catalog = this.catalogView();
    if (/^\d+$/.test(text)) {
      const id = idOfOid(Number(text))?.id;
      const found = catalog.sequences().find((sequence) => sequence.id === id);
      if (found === undefined) throw sqlError("42P01", `could not open relation with OID ${text}`);
      return found;
    }
    const { schema, name } = parseRelationName(text);
    const schemas = schema === null ? this.memory.searchPath(catalog) : [schema];
    for (const each of schemas) {
      const found = catalog.sequence(each, name);
      if (found !== null) return found;
      if (catalog.table(each, name) !== null || catalog.index(each, name) !== null) {
        throw sqlError("42809", `"${name}" is not a sequence`);
      }
    }
    throw sqlError("42P01", `relation "${text}" does not exist`);
  }

  private catalogView(): CatalogView {
    return this.memory.tenant.catalog.view(this.tx);
  }
}
