/** The row of tabs above the editor. */
import { useState } from "preact/hooks";
import { useStore } from "../../lib/store.js";
import { Button } from "../../ui/button.js";
import { attempt } from "../../ui/toast.js";
import { changeTab, closeTab, openTab, type QueryTab, selectTab } from "./query-tabs.js";
import { closeTransaction, stopRun, workOf } from "./run.js";

interface QueryTabsProps {
  readonly tabs: readonly QueryTab[];
  readonly current: string;
  readonly hasSide: boolean;
  readonly onSide: () => void;
}

export function QueryTabs({ tabs, current, hasSide, onSide }: QueryTabsProps) {
  return (
    <div class="query-tabs">
      <Button kind="quiet" icon="side" label="Tables, history and saved queries" pressed={hasSide} onClick={onSide} />
      <div class="query-tab-row">
        {tabs.map((tab) => (
          <TabButton key={tab.id} tab={tab} isCurrent={tab.id === current} />
        ))}
      </div>
      <Button kind="quiet" icon="plus" label="New query (Alt T)" onClick={() => openTab()} />
    </div>
  );
}

/** What is open in it is rolled back. */
function close(id: string): void {
  const work = workOf(id);
  stopRun(work);
  void attempt(() => closeTransaction(work, "rollback"));
  closeTab(id);
}

function TabButton({ tab, isCurrent }: { readonly tab: QueryTab; readonly isCurrent: boolean }) {
  const [isNaming, setNaming] = useState(false);
  const transaction = useStore(workOf(tab.id).transaction);
  const name = (title: string): void => {
    if (title.trim() !== "") changeTab(tab.id, { title: title.trim() });
    setNaming(false);
  };
  return (
    <div class={isCurrent ? "query-tab current" : "query-tab"}>
      {isNaming ? (
        <input
          class="query-tab-name"
          aria-label="Name of the query"
          value={tab.title}
          ref={(element) => element?.focus()}
          onBlur={(event) => name(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") name(event.currentTarget.value);
            if (event.key === "Escape") setNaming(false);
          }}
        />
      ) : (
        <button
          type="button"
          class="query-tab-title"
          aria-current={isCurrent ? "true" : undefined}
          title="A double click renames it"
          onClick={() => selectTab(tab.id)}
          onDblClick={() => setNaming(true)}
        >
          {transaction !== null && <span class="dot" title="A transaction is open" />}
          {tab.title}
        </button>
      )}
      <button type="button" class="query-tab-close" aria-label={`Close ${tab.title}`} onClick={() => close(tab.id)}>
        ×
      </button>
    </div>
  );
}
