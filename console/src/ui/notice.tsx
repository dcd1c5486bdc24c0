/** What the reader should know: an error, a hint, or that there is nothing. */
import type { ComponentChildren } from "preact";
import { messageOf } from "../lib/errors.js";
import { Busy } from "./button.js";
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
  return <Notice tone="bad">{messageOf(error)}</Notice>;
}

/** In place of data that is not there yet, or could not be had. */
export function Waiting({ error }: { readonly error: unknown }) {
  return error === null ? <Busy /> : <Failure error={error} />;
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
