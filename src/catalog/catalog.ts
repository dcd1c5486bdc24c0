/**
 * A tenant's definitions: records in the tenant's shard, and their newest version in memory. The actor has one Catalog
 * per tenant and asks it for a view at the start of every statement.
 *
 * How a view is known to be right. Only transactions of this actor change the records, unless `followed` tells of
 * others. All of them use `change` and are reported to `settle` when they end. So while none is open, a transaction
 * that is not older than the last change sees the newest version; two comparisons tell. A transaction that may write
 * also reads the version record (one lookup), so that validation at commit refuses it if a definition changed after
 * its snapshot; unless its owner knows more exactly which definitions it uses (table-use.ts).
 */
import { catalogKey, catalogPrefix, prefixRange } from "../storage/keys.js";
import type { Operation } from "../storage/operation.js";
import type { Transaction } from "../storage/store.js";
import type { Author } from "./author.js";
import {
  ACCESS_RECORD,
  CatalogEditor,
  FUNCTION_RECORD,
  ROLE_RECORD,
  ROLE_SETTINGS_RECORD,
  SCHEMA_RECORD,
  SEQUENCE_RECORD,
  TABLE_RECORD,
  TYPE_RECORD,
  VERSION_RECORD,
  VIEW_RECORD,
} from "./catalog-editor.js";
import { CatalogSnapshot, type Definitions } from "./catalog-snapshot.js";
import type { CatalogView } from "./catalog-view.js";
import {
  decodeAccess,
  decodeCast,
  decodeExtension,
  decodeFunction,
  decodeOperator,
  decodeRole,
  decodeRoleSettings,
  decodeSchema,
  decodeSequence,
  decodeTable,
  decodeTypes,
  decodeView,
} from "./definition-codec.js";
import { DefinitionsGuard } from "./definitions-guard.js";
import type { ExtensionDef } from "./extension.js";
import type { FunctionDef } from "./function.js";
import { keptTables } from "./kept-tables.js";
import type { CastDef, OperatorDef } from "./operator.js";
import { PLAIN_RECORDS } from "./plain-definitions.js";
import type { AccessDef, RoleDef, RoleSettingsDef } from "./role.js";
import type { SchemaDef } from "./schema.js";
import type { SequenceDef } from "./sequence.js";
import type { TableDef } from "./table.js";
import { sqlTypeOf } from "./type.js";
import type { ViewDef } from "./view.js";

type Definition =
  | TableDef
  | SequenceDef
  | SchemaDef
  | ViewDef
  | FunctionDef
  | ExtensionDef
  | OperatorDef
  | CastDef
  | RoleDef
  | AccessDef
  | RoleSettingsDef;

/** Committed versions kept for transactions with older snapshots. */
const OLD_VERSIONS_MAX = 4;
/** Records read at once. */
const SCAN_RECORDS = 256;
const VERSION_BYTES = 6;

/** What a transaction with uncommitted definitions sees. */
interface Uncommitted {
  /** The version record before the transaction changed anything. */
  readonly base: number;
  /** The version record that `snapshot` belongs to; −1 while a change is under way. */
  version: number;
  snapshot: CatalogSnapshot;
}

/** A record and what it decodes to: a definition that did not change stays the same object. */
interface Decoded {
  readonly record: Uint8Array;
  readonly definition: Definition;
}

export type WhoMay = Pick<Definitions, "roles" | "accesses" | "roleSettings">;

export class Catalog {
  private newest: CatalogSnapshot | null = null;
  /** Sequence of the last commit that changed definitions. */
  private lastChange = 0;
  private readonly old = new Map<number, CatalogSnapshot>();
  /** Open transactions that changed definitions. */
  private readonly uncommitted = new Map<Transaction, Uncommitted>();
  private uncommittedViews = 0;
  private decoded = new Map<string, Decoded>();
  /** The records of types that `decoded` was made with: a table depends on them. */
  private decodedTypes = "";
  private readonly versionKey: Uint8Array;
  /** Whether any version seen so far says who may do what: then plans are kept by role. */
  everHadAccess = false;
  /** Whether any version seen so far has a table that a feature keeps for itself. */
  everHadKept = false;
  /** Whether any version seen so far has roles that statements made. */
  everHadRoles = false;
  /** Whether any version seen so far says what sessions begin with. */
  everHadRoleSettings = false;
  /** As in CatalogView; set it before the first view. */
  hidesMemories = false;
  /** Transactions whose owners see to it themselves that the definitions they use still hold. */
  private readonly unguarded = new WeakSet<Transaction>();
  private lastGuard: DefinitionsGuard | null = null;

  constructor(readonly tenantNumber: number) {
    this.versionKey = catalogKey(tenantNumber, VERSION_RECORD);
  }

  /** The definitions that the transaction sees. */
  view(tx: Transaction): CatalogView {
    return this.snapshotOf(tx);
  }

  /**
   * From now on no change of definitions is a conflict for the transaction (definitions-guard.ts). The code that
   * commits it checks before, in the same turn, whether the definitions that it uses are unchanged (TableUse). Call it
   * before the transaction's first view.
   */
  leaveUnguarded(tx: Transaction): void {
    this.unguarded.add(tx);
  }

  /** Whether definitions were changed by a commit after the one with that sequence. */
  changedSince(sequence: number): boolean {
    return this.lastChange > sequence;
  }

  /** Sequence of the last commit that changed definitions since this catalog was made; 0: none did. */
  get changedAt(): number {
    return this.lastChange;
  }

  /** Version of the newest committed definitions, which a new transaction sees; null when a view must be asked for. */
  newestVersion(): number | null {
    return (this.newestView()?.version as number | undefined) ?? null;
  }

  /** The same definitions. */
  newestView(): CatalogView | null {
    return this.uncommitted.size > 0 ? null : this.newest;
  }

  /**
   * Changes definitions within the transaction, which alone sees them until it commits. When `apply` throws half-way,
   * the transaction must be rolled back, at least to a savepoint before the call. `author`: null for code of
   * the engine itself.
   */
  change<T>(tx: Transaction, apply: (editor: CatalogEditor) => T, author: Author | null = null): T {
    const snapshot = this.snapshotOf(tx);
    const version = this.versionOf(tx);
    const before = this.uncommitted.get(tx);
    const state: Uncommitted = { base: before?.base ?? version, version: -1, snapshot };
    this.uncommitted.set(tx, state);
    const editor = new CatalogEditor(tx, this.tenantNumber, snapshot, author);
    const result = apply(editor);
    if (!editor.changed) {
      if (before === undefined) this.uncommitted.delete(tx);
      else this.uncommitted.set(tx, before);
      return result;
    }
    tx.put(this.versionKey, encodeVersion(version + 1));
    state.version = version + 1;
    state.snapshot = editor.snapshot(this.uncommittedVersion());
    this.noteRights(state.snapshot);
    return result;
  }

  private noteRights(snapshot: CatalogSnapshot): void {
    this.everHadAccess ||= snapshot.hasAccess;
    this.everHadRoles ||= snapshot.roles().length > 0;
    this.everHadRoleSettings ||= snapshot.roleSettings().length > 0;
    this.everHadKept ||= keptTables(snapshot).size > 0;
  }

  /** Records that come as they are, from a branch that is merged. As with `change`, the transaction alone sees them. */
  adopt(tx: Transaction, records: readonly Operation[]): void {
    const snapshot = this.snapshotOf(tx);
    const base = this.versionOf(tx);
    for (const { key, value } of records) {
      if (value === null) tx.delete(key);
      else tx.put(key, value);
    }
    tx.put(this.versionKey, encodeVersion(base + 1));
    // No record has that version, so the definitions are read when they are asked for.
    this.uncommitted.set(tx, { base, version: -1, snapshot });
  }

  /**
   * Call when a transaction has ended, in the same turn: with the sequence of its commit, or null after a rollback.
   * Costs nothing for a transaction without definition changes. If it is left out views stay right, but cost a lookup.
   */
  settle(tx: Transaction, sequence: number | null): void {
    if (!this.uncommitted.delete(tx) || sequence === null) return;
    this.lastChange = sequence;
    this.keepOld();
  }

  /** Another node has committed up to that sequence, and may have changed definitions. */
  followed(sequence: number): void {
    this.lastChange = sequence;
    this.keepOld();
  }

  private keepOld(): void {
    if (this.newest === null) return;
    this.remember(this.newest);
    this.newest = null;
  }

  private remember(snapshot: CatalogSnapshot): void {
    this.old.set(snapshot.version as number, snapshot);
    if (this.old.size > OLD_VERSIONS_MAX) this.old.delete(this.old.keys().next().value!);
  }

  private snapshotOf(tx: Transaction): CatalogSnapshot {
    const snapshot = this.seenBy(tx);
    // Definitions that it changes itself are guarded as what it writes.
    if (!tx.readOnly && !this.unguarded.has(tx) && !this.uncommitted.has(tx)) tx.guardBy(this.guardOf(snapshot));
    return snapshot;
  }

  private guardOf(snapshot: CatalogSnapshot): DefinitionsGuard {
    if (this.lastGuard?.base !== snapshot) this.lastGuard = new DefinitionsGuard(this, snapshot);
    return this.lastGuard;
  }

  private seenBy(tx: Transaction): CatalogSnapshot {
    if (this.uncommitted.size > 0) {
      const own = this.uncommitted.get(tx);
      return own === undefined ? this.committed(tx, this.versionOf(tx)) : this.ownSnapshot(tx, own);
    }
    if (this.newest !== null && tx.snapshot >= this.lastChange) return this.newest;
    return this.committed(tx, this.versionOf(tx));
  }

  /** A rollback to a savepoint may have taken the transaction back to an earlier version than the last one here. */
  private ownSnapshot(tx: Transaction, own: Uncommitted): CatalogSnapshot {
    const version = this.versionOf(tx);
    if (version === own.version) return own.snapshot;
    if (version === own.base) return this.committed(tx, version);
    own.snapshot = this.load(tx, this.uncommittedVersion());
    own.version = version;
    return own.snapshot;
  }

  private committed(tx: Transaction, version: number): CatalogSnapshot {
    if (this.newest?.version === version) return this.newest;
    const known = this.old.get(version);
    if (known !== undefined) return known;
    // The version stands for all records.
    const snapshot = tx.unread(() => this.load(tx, version));
    const isNewest = this.uncommitted.size === 0 && tx.snapshot >= this.lastChange;
    if (isNewest) this.newest = snapshot;
    else this.remember(snapshot);
    return snapshot;
  }

  private uncommittedVersion(): string {
    return `uncommitted ${++this.uncommittedViews}`;
  }

  private versionOf(tx: Transaction): number {
    const record = tx.unread(() => tx.get(this.versionKey));
    return record === undefined ? 0 : Buffer.from(record).readUIntBE(0, VERSION_BYTES);
  }

  private load(tx: Transaction, version: number | string): CatalogSnapshot {
    const typeRecords: Uint8Array[] = [];
    this.eachRecord(tx, TYPE_RECORD, (_, record) => typeRecords.push(Buffer.from(record)));
    const types = decodeTypes(typeRecords);
    const typesText = Buffer.concat(typeRecords).toString("latin1");
    if (typesText !== this.decodedTypes) this.decoded.clear();
    this.decodedTypes = typesText;
    const sqlTypes = new Map(types.map((type) => [type.id, sqlTypeOf(type)]));
    const snapshot = new CatalogSnapshot(version, {
      tables: this.read(tx, TABLE_RECORD, (record) => decodeTable(record, (id) => sqlTypes.get(id)!)),
      sequences: this.read(tx, SEQUENCE_RECORD, decodeSequence),
      schemas: this.read(tx, SCHEMA_RECORD, decodeSchema),
      extensions: this.read(tx, PLAIN_RECORDS.extension, decodeExtension),
      operators: this.read(tx, PLAIN_RECORDS.operator, (record) => decodeOperator(record, (id) => sqlTypes.get(id)!)),
      casts: this.read(tx, PLAIN_RECORDS.cast, (record) => decodeCast(record, (id) => sqlTypes.get(id)!)),
      types,
      views: this.read(tx, VIEW_RECORD, (record) => decodeView(record, (id) => sqlTypes.get(id)!)),
      functions: this.read(tx, FUNCTION_RECORD, (record) => decodeFunction(record, (id) => sqlTypes.get(id)!)),
      ...this.whoMay(tx),
    });
    snapshot.hidesMemories = this.hidesMemories;
    this.noteRights(snapshot);
    return snapshot;
  }

  protected whoMay(tx: Transaction): WhoMay {
    return {
      roles: this.read(tx, ROLE_RECORD, decodeRole),
      accesses: this.read(tx, ACCESS_RECORD, decodeAccess),
      roleSettings: this.read(tx, ROLE_SETTINGS_RECORD, decodeRoleSettings),
    };
  }

  private read<T extends Definition>(tx: Transaction, kind: string, decode: (record: Uint8Array) => T): readonly T[] {
    const definitions: T[] = [];
    this.eachRecord(tx, kind, (key, stored) => {
      const name = Buffer.from(key).toString("latin1");
      const known = this.decoded.get(name);
      if (known !== undefined && Buffer.compare(known.record, stored) === 0) {
        definitions.push(known.definition as T);
        return;
      }
      const record = Buffer.from(stored);
      const definition = decode(record);
      this.decoded.set(name, { record, definition });
      definitions.push(definition);
    });
    return definitions;
  }

  private eachRecord(tx: Transaction, kind: string, visit: (key: Uint8Array, record: Uint8Array) => void): void {
    const prefix = Buffer.concat([catalogPrefix(this.tenantNumber), Buffer.from(kind)]);
    const cursor = tx.scan(prefixRange(prefix));
    for (;;) {
      const { keys, values } = cursor.next(SCAN_RECORDS);
      if (keys.length === 0) break;
      for (let i = 0; i < keys.length; i++) visit(keys[i]!, values[i]!);
    }
    cursor.close();
  }
}

function encodeVersion(version: number): Buffer {
  const record = Buffer.allocUnsafe(VERSION_BYTES);
  record.writeUIntBE(version, 0, VERSION_BYTES);
  return record;
}
