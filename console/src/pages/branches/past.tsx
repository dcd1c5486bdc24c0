/** How long the tenant's past is kept, and the rows of a table made what they were. */
import { useState } from "preact/hooks";
import { timeText } from "../../lib/format.js";
import { tenantClient } from "../../lib/session.js";
import { Button } from "../../ui/button.js";
import { ActionDialog, Confirm } from "../../ui/dialog.js";
import { Select } from "../../ui/field.js";
import { Notice, Waiting } from "../../ui/notice.js";
import { Facts, Panel } from "../../ui/panel.js";
import { attempt } from "../../ui/toast.js";
import { type History, type Moment, useTenantGet } from "./branch-facts.js";
import { MomentsPanel } from "./moments-panel.js";
import { UndoPanel } from "./undo-panel.js";

const WINDOWS = [
  ["3600", "an hour"],
  ["86400", "a day"],
  ["604800", "7 days"],
  ["2592000", "30 days"],
  ["31536000", "a year"],
  ["", "without end"],
] as const;
type Window = (typeof WINDOWS)[number][0];

interface PastProps {
  readonly mayChange: boolean;
  readonly query: Readonly<Record<string, string>>;
}

export function Past({ mayChange, query }: PastProps) {
  const [isOpen, setOpen] = useState<"keep" | "forget" | null>(null);
  const { data, error, again } = useTenantGet<History>("/v1/history");
  if (data === undefined) return <Waiting error={error} />;
  const forget = (): void => {
    void attempt(() => tenantClient().request("DELETE", "/v1/history"), "The past is forgotten.").then(again);
  };
  return (
    <>
      <Panel
        title="The past"
        actions={
          mayChange && (
            <>
              <Button onClick={() => setOpen("keep")}>
                {data.window_seconds === null ? "Keep the past" : "How long …"}
              </Button>
              {data.kept && <Button onClick={() => setOpen("forget")}>Forget</Button>}
            </>
          )
        }
      >
        <Facts
          facts={[
            ["Kept for", keptText(data)],
            ["Oldest moment", data.oldest === null ? "none" : momentText(data.oldest)],
            ["Newest commit", momentText(data.newest)],
          ]}
        />
        {!data.kept && (
          <Notice>Each write overwrites what was there. To look back and to undo, keep the past from now on.</Notice>
        )}
      </Panel>
      {data.kept && <MomentsPanel oldest={data.oldest} query={query} />}
      {mayChange && data.kept && <UndoPanel oldest={data.oldest} onUndone={again} />}
      {isOpen === "keep" && <KeepDialog onClose={() => setOpen(null)} onDone={again} />}
      {isOpen === "forget" && (
        <Confirm title="Forget the past?" action="Forget" onConfirm={forget} onClose={() => setOpen(null)}>
          <p>Nobody can look back or undo any more. What branches need stays.</p>
        </Confirm>
      )}
    </>
  );
}

function keptText({ kept, window_seconds }: History): string {
  if (!kept) return "not at all";
  if (window_seconds === null) return "without end, or as long as branches need it";
  const known = WINDOWS.find(([seconds]) => seconds === String(window_seconds));
  return known === undefined ? `${window_seconds} s` : known[1];
}

function momentText({ sequence, at }: Moment): string {
  return `${timeText(at)}, commit ${sequence}`;
}

function KeepDialog({ onClose, onDone }: { readonly onClose: () => void; readonly onDone: () => void }) {
  const [window, setWindow] = useState<Window>("604800");
  const keep = (): void => {
    const body = { window_seconds: window === "" ? null : Number(window) };
    void attempt(() => tenantClient().request("PUT", "/v1/history", { body }), "The past is kept.").then(onDone);
    onClose();
  };
  return (
    <ActionDialog title="Keep the past" action="Keep" onAction={keep} onClose={onClose}>
      <p>From now on each write also stores what it replaces. That takes room.</p>
      <Select label="For" value={window} options={WINDOWS} onChange={setWindow} />
    </ActionDialog>
  );
}
