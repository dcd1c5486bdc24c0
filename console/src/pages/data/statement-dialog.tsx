/** A form whose statement is shown before it runs. */
import type { ComponentChildren } from "preact";
import { loadCatalog } from "../../lib/catalog.js";
import { useRun } from "../../lib/run.js";
import { client } from "../../lib/session.js";
import { CodeBlock } from "../../ui/code-block.js";
import { ActionDialog } from "../../ui/dialog.js";
import { tell } from "../../ui/toast.js";

interface StatementDialogProps {
  readonly title: string;
  /** As it is shown. */
  readonly statement: string;
  readonly run: () => Promise<unknown>;
  readonly action: string;
  /** What is said once it has run. */
  readonly done: string;
  readonly isDangerous?: boolean | undefined;
  readonly isWide?: boolean;
  readonly disabled?: boolean;
  readonly children?: ComponentChildren;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function StatementDialog({ statement, run, done, disabled, children, onDone, ...dialog }: StatementDialogProps) {
  const { error, isBusy, run: work } = useRun();
  const apply = async (): Promise<void> => {
    if (!(await work(run))) return;
    tell(done);
    onDone();
  };
  return (
    <ActionDialog {...dialog} onAction={() => void apply()} disabled={isBusy || disabled === true} error={error}>
      {children}
      <StatementShown statement={statement} />
    </ActionDialog>
  );
}

/** Nothing, where nothing will run. */
export function StatementShown({ statement }: { readonly statement: string }) {
  if (statement === "") return null;
  return (
    <div>
      <h3>What will run</h3>
      <CodeBlock>{statement}</CodeBlock>
    </div>
  );
}

export function scriptOf(statements: readonly string[]): string {
  return statements.map((statement) => `${statement};`).join("\n");
}

/** All of them or none; what completion knows of the tenant is loaded again. */
export async function runDefinitions(statements: readonly string[]): Promise<void> {
  await client().tx(async (transaction) => {
    for (const statement of statements) await transaction.query(statement);
  });
  loadCatalog().catch(() => undefined);
}

interface DefinitionDialogProps extends Omit<StatementDialogProps, "statement" | "run"> {
  readonly statements: readonly string[];
}

/** Of statements that change definitions. */
export function DefinitionDialog({ statements, ...dialog }: DefinitionDialogProps) {
  return <StatementDialog {...dialog} statement={scriptOf(statements)} run={() => runDefinitions(statements)} />;
}
