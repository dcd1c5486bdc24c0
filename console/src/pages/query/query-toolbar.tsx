/** What can be done with the statements of a tab. */
import { useState } from "preact/hooks";
import { clockText } from "../../lib/format.js";
import { MOD } from "../../lib/keys.js";
import { useStore } from "../../lib/store.js";
import { Badge, Button } from "../../ui/button.js";
import { ActionDialog } from "../../ui/dialog.js";
import { TextField } from "../../ui/field.js";
import { attempt, tell } from "../../ui/toast.js";
import { changeTab, type QueryTab, save } from "./query-tabs.js";
import { type Asked, closeTransaction, openTransaction, stopRun, type TabWork } from "./run.js";
import type { Language } from "./split.js";

const LIMITS: readonly (readonly [number, string])[] = [
  [1_000, "1,000 rows"],
  [100_000, "100,000 rows"],
  [1_000_000, "1 million rows"],
  [10_000_000, "10 million rows"],
];

interface QueryToolbarProps {
  readonly tab: QueryTab;
  readonly work: TabWork;
  readonly isRunning: boolean;
  readonly limit: number;
  readonly onLimit: (rows: number) => void;
  readonly onRun: (isAll: boolean, plan?: Asked["plan"]) => void;
}

export function QueryToolbar({ tab, work, isRunning, limit, onLimit, onRun }: QueryToolbarProps) {
  const [isSaving, setSaving] = useState(false);
  return (
    <div class="query-toolbar">
      {isRunning ? (
        <Button kind="danger" icon="stop" label={`Stop (${MOD} .)`} onClick={() => stopRun(work)}>
          Stop
        </Button>
      ) : (
        <Button kind="primary" icon="play" label={`Run (${MOD} Enter)`} onClick={() => onRun(false)}>
          Run
        </Button>
      )}
      <Button label={`All statements (${MOD} Shift Enter)`} disabled={isRunning} onClick={() => onRun(true)}>
        Run all
      </Button>
      <select
        class="input language"
        aria-label="Language"
        value={tab.language}
        onChange={(event) => changeTab(tab.id, { language: event.currentTarget.value as Language })}
      >
        <option value="sql">SQL</option>
        <option value="cypher">Cypher</option>
      </select>
      <Button
        icon="plan"
        label="The plan, without running"
        disabled={isRunning}
        onClick={() => onRun(false, "explain")}
      >
        Explain
      </Button>
      <Button
        label="Run and measure each step. Its changes are rolled back."
        disabled={isRunning}
        onClick={() => onRun(false, "analyze")}
      >
        Analyze
      </Button>
      <TransactionButtons work={work} isRunning={isRunning} />
      <span class="spacer" />
      <select
        class="input limit"
        aria-label="The most rows"
        value={String(limit)}
        onChange={(event) => onLimit(Number(event.currentTarget.value))}
      >
        {LIMITS.map(([rows, label]) => (
          <option key={rows} value={String(rows)}>
            {label}
          </option>
        ))}
      </select>
      <Button kind="quiet" icon="star" label="Save this query" onClick={() => setSaving(true)} />
      {isSaving && <SaveDialog tab={tab} onClose={() => setSaving(false)} />}
    </div>
  );
}

function TransactionButtons({ work, isRunning }: { readonly work: TabWork; readonly isRunning: boolean }) {
  const open = useStore(work.transaction);
  if (open === null) {
    return (
      <Button
        label="Keep a transaction open between statements"
        disabled={isRunning}
        onClick={() => void attempt(() => openTransaction(work))}
      >
        Begin
      </Button>
    );
  }
  const until = clockText(open.expiresAt);
  const end = (how: "commit" | "rollback"): void => {
    void attempt(() => closeTransaction(work, how), how === "commit" ? "Committed." : "Rolled back.");
  };
  return (
    <span class="transaction" title={`It is rolled back at ${until} unless it has ended.`}>
      <Badge tone="warn">
        Transaction open · {open.statements} {open.statements === 1 ? "statement" : "statements"}
      </Badge>
      <Button disabled={isRunning} onClick={() => end("commit")}>
        Commit
      </Button>
      <Button disabled={isRunning} onClick={() => end("rollback")}>
        Roll back
      </Button>
    </span>
  );
}

function SaveDialog({ tab, onClose }: { readonly tab: QueryTab; readonly onClose: () => void }) {
  const [name, setName] = useState(tab.title);
  const submit = (): void => {
    if (name.trim() === "") return;
    save(name.trim(), tab.language, tab.text);
    changeTab(tab.id, { title: name.trim() });
    tell(`Saved as ${name.trim()}.`);
    onClose();
  };
  return (
    <ActionDialog title="Save this query" action="Save" onAction={submit} onClose={onClose}>
      <TextField label="Name" hint="This browser keeps it." value={name} onInput={setName} isFocused />
    </ActionDialog>
  );
}
