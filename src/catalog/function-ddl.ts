/** Applies CREATE, ALTER and DROP of functions, procedures and aggregates. Called by ddl.ts. */
import type { CatalogEditor } from "./catalog-editor.js";
import { type DdlOutcome, NOTHING } from "./ddl-outcome.js";
import { dropFunctions } from "./drop-dependents.js";
import type { FunctionCommand } from "./function-command.js";

export function applyFunctionCommand(editor: CatalogEditor, command: FunctionCommand, nowMicros: number): DdlOutcome {
  switch (command.kind) {
    case "create function": {
      const { replaces } = command;
      const id = replaces?.id ?? editor.nextId();
      const comment = replaces?.comment === undefined ? {} : { comment: replaces.comment };
      const createdAt = replaces?.createdAt ?? nowMicros;
      editor.putFunction(Object.freeze({ ...command.function, ...comment, id, createdAt }));
      return { ...NOTHING, tag: `CREATE ${command.function.kind.toUpperCase()}` };
    }
    case "drop functions":
      return dropFunctions(editor, command);
    case "alter function":
      editor.putFunction(Object.freeze(command.after));
      return { ...NOTHING, tag: command.tag };
  }
}
