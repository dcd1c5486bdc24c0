/** Checks the lead that an API key is to have. */
import { DbError } from "../protocol/errors.js";
import type { Permission } from "../protocol/identity.js";
import { type Lead, STATEMENT_KINDS, type StatementKind } from "../protocol/lead.js";

/** With everything in it that follows from the rest. Throws invalid_request, which names the field. */
export function checkedLead(lead: Lead, permission: Permission): Lead {
  if (Object.keys(lead).length === 0) {
    throw invalid(
      "lead",
      "A lead bounds something: give it a role, tables, statements, tools, models or a budget (…_per_day).",
    );
  }
  const statements = statementsOf(lead, permission);
  return { ...lead, ...(statements !== undefined && { statements }) };
}

function statementsOf(
  { tables, statements: given }: Lead,
  permission: Permission,
): readonly StatementKind[] | undefined {
  const statements = given ?? (tables === undefined ? undefined : allowedWith(permission));
  if (statements === undefined) return undefined;
  const sorted = STATEMENT_KINDS.filter((kind) => statements.includes(kind));
  // Each kind needs those before it: who changes rows finds them, who defines tables fills them.
  if (sorted.some((kind, i) => kind !== STATEMENT_KINDS[i])) {
    throw invalid(
      "lead.statements",
      'The statements are ["read"], ["read", "write"] or ["read", "write", "definition"].',
    );
  }
  if (tables !== undefined && sorted.includes("definition")) {
    throw invalid(
      "lead.statements",
      'A key that may name some tables only changes no definitions: leave out "definition".',
    );
  }
  if (given !== undefined && permission === "ReadOnly" && sorted.length > 1) {
    throw invalid(
      "permission",
      'A ReadOnly key only reads: lead.statements is ["read"], or the permission FullAccess.',
    );
  }
  return sorted;
}

function allowedWith(permission: Permission): readonly StatementKind[] {
  return permission === "ReadOnly" ? ["read"] : ["read", "write"];
}

function invalid(field: string, message: string): DbError {
  return new DbError("invalid_request", message, { field });
}
