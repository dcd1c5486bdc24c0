/** What the reader should know: an error, a hint, or that there is nothing. */
import type { ComponentChildren } from "preact";
import { isPassing, messageOf } from "../lib/errors.js";
import { askAgain, missing } from "../lib/load.js";
import { useStore } from "../lib/store.js";
import { Busy, Button } from "./button.js";
import { Icon, type IconName } from "./icon.js";

interface NoticeProps {
  readonly tone?: "bad" | "warn" | "info";
  readonly children: ComponentChildren;
}

export function Notice({ tone = "info", children }: NoticeProps) {
  return (
    <div class={`notice ${tone}`} role={tone === "bad" ? "alert" : "status"}>
      <Icon name={tone === "info" ? "help" : "warning"} />
      <div>{children}</div>
    </div>
  );
}

/** Nothing where there is no error. */
export function Failure({ error }: { readonly error: unknown }) {
  if (error === null || error === undefined) return null;
  return (
    <Notice tone="bad">
      {messageOf(error)}
      {isPassing(error) && <AskAgain />}
    </Notice>
  );
}

/** Nothing where no data is missing: an action that failed is begun anew with its own button. */
function AskAgain() {
  const { size } = useStore(missing);
  if (size === 0) return null;
  return (
    <p class="row">
      The page asks again every few seconds.
      <Button onClick={askAgain}>Try again</Button>
    </p>
  );
}

/** In place of data that is not there yet, or could not be had. */
export function Waiting({ error }: { readonly error: unknown }) {
  return error === null ? <Busy /> : <Failure error={error} />;
}

/** In place of a part of the console that could not be loaded: a new version of the server has others. */
export function NewVersion() {
  return (
    <Empty icon="refresh" title="This part of the console could not be loaded">
      <p>The server does not answer, or it has a newer version since this page was opened. Your queries are kept.</p>
      <Button kind="primary" onClick={() => location.reload()}>
        Load the page again
      </Button>
    </Empty>
  );
}

/** In place of what concerns the whole installation. */
export function ForOperators() {
  return <Empty icon="help" title="This page is for administrators of the tenant system" />;
}

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
}

export function Empty({ icon, title, children }: EmptyProps) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      <div class="empty-text">{children}</div>
    </div>
  );
}
