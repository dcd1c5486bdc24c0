/** Applies statements about roles, grants and policies. Called by ddl.ts. */
import { sqlError } from "../protocol/errors.js";
import type { AccessCommand } from "./access-command.js";
import type { CatalogEditor } from "./catalog-editor.js";
import { type DdlOutcome, NOTHING } from "./ddl-outcome.js";
import { dropOwned } from "./drop-owned.js";
import { NOT_NUMBERED } from "./model-access.js";

export function applyAccessCommand(editor: CatalogEditor, command: AccessCommand, nowMicros: number): DdlOutcome {
  const { tag, notices, made = [], roles = [], dropped = [], accesses = [], settings = [] } = command;
  for (const role of made) {
    if (editor.view.role(role.name) !== null) throw sqlError("42710", `role "${role.name}" already exists`);
    editor.putRole({ ...role, id: editor.nextId() });
  }
  for (const role of roles) editor.putRole(role);
  for (const access of accesses) {
    editor.putAccess(access.objectId === NOT_NUMBERED ? { ...access, objectId: editor.nextId() } : access);
  }
  for (const each of settings) editor.putRoleSettings(each);
  for (const role of dropped) {
    for (const other of editor.view.roles()) {
      const memberOf = other.memberOf.filter(({ roleId }) => roleId !== role.id);
      if (memberOf.length < other.memberOf.length) editor.putRole({ ...other, memberOf });
    }
    editor.dropRole(role);
  }
  if (command.owned === undefined) return { ...NOTHING, tag, notices };
  const outcome = dropOwned(editor, command.owned, nowMicros);
  return { ...NOTHING, ...outcome, tag, notices: [...notices, ...(outcome.notices ?? [])] };
}
