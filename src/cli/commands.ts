/** The commands that `tessera serve` can do without. Called by the command line. */
import type { Command } from "commander";
import { addAccountCommands } from "./account-commands.js";
import { addAskCommands } from "./ask-commands.js";
import { addBackupCommands } from "./backup-commands.js";
import { addBenchCommand } from "./bench-command.js";
import { addCompletionCommand } from "./completion-command.js";
import { addDataCommands } from "./data-commands.js";
import { addDoctorCommand } from "./doctor-command.js";
import { addExamples } from "./examples.js";
import { addImportGraphCommand } from "./import-graph-command.js";
import { addKeyCommands } from "./key-commands.js";
import { addModelCommands } from "./model-commands.js";
import { addSqlCommand } from "./sql-command.js";
import { addTypesCommand } from "./types-command.js";

export function addCommands(program: Command): void {
  addSqlCommand(program);
  addDataCommands(program);
  addImportGraphCommand(program);
  addAskCommands(program);
  addModelCommands(program);
  addAccountCommands(program);
  addTypesCommand(program);
  addBackupCommands(program);
  addKeyCommands(program);
  addDoctorCommand(program);
  addBenchCommand(program);
  addCompletionCommand(program);
  addExamples(program);
}
