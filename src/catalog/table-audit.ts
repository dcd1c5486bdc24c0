/** What a table's definition says of the audit of its rows. Read by sql/bind, kept by ddl; pure. */
import { sqlError } from "../protocol/errors.js";
import type { AuditedUse, TableDef } from "./table.js";

const USES: readonly AuditedUse[] = ["read", "write"];

/** Of "read", "write", "read, write" or "". Throws 22023. */
export function auditedUses(text: string, position: number): readonly AuditedUse[] {
  const names = text.split(",").map((name) => name.trim().toLowerCase());
  if (names.length === 1 && /^(?:|none)$/.test(names[0]!)) return [];
  const unknown = names.find((name) => !(USES as readonly string[]).includes(name));
  if (unknown === undefined) return USES.filter((use) => names.includes(use));
  throw sqlError("22023", `invalid value for parameter "audit": "${text}"`, {
    position,
    hint: "It is 'read', 'write', 'read, write' or 'none'.",
  });
}

/** The table with those uses audited, and no others. */
export function withAudit(table: TableDef, uses: readonly AuditedUse[]): TableDef {
  const { audit: _, ...rest } = table;
  return Object.freeze(uses.length === 0 ? rest : { ...rest, audit: uses });
}

/** A child of an audited table is audited, too. */
export function auditedAs(child: TableDef, parent: TableDef): TableDef {
  const uses = USES.filter((use) => child.audit?.includes(use) || parent.audit?.includes(use));
  return uses.length === (child.audit?.length ?? 0) ? child : withAudit(child, uses);
}

/** Throws 42809 where the partition is audited and the table is not, whose statements would go around. */
export function requireSameAudit(partition: TableDef, parent: TableDef): void {
  const other = partition.audit?.find((use) => !parent.audit?.includes(use));
  if (other === undefined) return;
  throw sqlError("42809", `"${partition.name}" is audited (${other}), but "${parent.name}" is not`, {
    hint: `ALTER TABLE ${parent.name} SET (audit = '…') first.`,
  });
}
