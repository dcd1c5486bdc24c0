/** Who may use a sequence. One that numbers a column goes by its table until somebody says something about it. */
import type { Rights } from "./rights.js";
import type { Privilege } from "./role.js";
import type { SequenceDef } from "./sequence.js";

/** With one of these privileges. Who may write rows of a table may have its identity columns numbered. */
export function mayUseSequence(
  { id, ownedBy }: SequenceDef,
  privileges: readonly Privilege[],
  rights: Rights,
): boolean {
  if (!rights.ofRoles) return true;
  const { catalog } = rights;
  const table = ownedBy === null ? null : catalog.tableById(ownedBy.tableId);
  const isTables = table !== null && catalog.accessTo(id) === null && catalog.accessTo(table.id) !== null;
  if (table !== null && privileges.includes("U")) {
    const column = table.columns.find((other) => other.id === ownedBy!.columnId);
    const isOfIdentity = column !== undefined && column.identity !== null;
    if ((isTables || isOfIdentity) && mayAddRows(table.id, rights)) return true;
  }
  // Its position tells how many rows there are, and another one would give keys twice.
  return isTables ? rights.owns(table.id) : privileges.some((privilege) => rights.may(id, privilege));
}

/** Whether it may add rows of the table, perhaps through a view of it. */
function mayAddRows(id: number, rights: Rights): boolean {
  const may = rights.columns(id, "a");
  if (may === "all" || may.size > 0) return true;
  const over = rights.catalog.views().filter(({ query }) => query.relations.some((relation) => relation.id === id));
  return over.some((view) => mayAddRows(view.id, rights));
}
