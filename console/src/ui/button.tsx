/** Buttons, and small pieces that stand in lines: badges, states, keys. */
import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.js";

interface ButtonProps {
  readonly onClick?: (event: MouseEvent) => void;
  readonly children?: ComponentChildren;
  readonly icon?: IconName;
  /** For buttons with a picture alone, and as the tip of others. */
  readonly label?: string;
  readonly kind?: "plain" | "primary" | "quiet" | "danger";
  readonly type?: "button" | "submit";
  readonly disabled?: boolean;
  /** Of buttons that stay pressed. */
  readonly pressed?: boolean;
  readonly expanded?: boolean;
}

export function Button({ onClick, children, icon, label, kind = "plain", type = "button", ...more }: ButtonProps) {
  return (
    <button
      type={type}
      class={`button ${kind}${children === undefined ? " square" : ""}`}
      onClick={onClick}
      disabled={more.disabled}
      aria-label={children === undefined ? label : undefined}
      aria-pressed={more.pressed}
      aria-expanded={more.expanded}
      title={label}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}

export function ReloadButton({ onClick }: { readonly onClick: () => void }) {
  return <Button kind="quiet" icon="refresh" label="Load again" onClick={onClick} />;
}

type Tone = "neutral" | "good" | "warn" | "bad" | "accent";

export function Badge({ tone = "neutral", children }: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

export function Keys({ keys }: { readonly keys: readonly string[] }) {
  return (
    <span class="keys">
      {keys.map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </span>
  );
}

/** While something is under way. */
export function Busy({ label = "Loading" }: { readonly label?: string }) {
  return (
    <span class="busy" role="status">
      {label} …
    </span>
  );
}
