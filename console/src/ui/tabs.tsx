/** A row of tabs; arrows move between them. What a tab shows is its owner's business. */
import { useEffect, useRef } from "preact/hooks";

export interface Tab<T extends string> {
  readonly id: T;
  readonly label: string;
  readonly count?: string;
}

interface TabsProps<T extends string> {
  readonly label: string;
  readonly tabs: readonly Tab<T>[];
  /** Undefined: what is shown is none of them. */
  readonly current: T | undefined;
  readonly onChange: (id: T) => void;
}

export function Tabs<T extends string>({ label, tabs, current, onChange }: TabsProps<T>) {
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const [all, chosen] = [row.current!, row.current!.querySelector<HTMLElement>("[aria-selected=true]")];
    // The row alone: the page stays where it is.
    if (chosen !== null && all.scrollWidth > all.clientWidth) all.scrollLeft = chosen.offsetLeft - all.offsetLeft - 40;
  }, [current]);
  const move = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const at = tabs.findIndex(({ id }) => id === current);
    onChange(tabs[(at + step + tabs.length) % tabs.length]!.id);
    const row = event.currentTarget as HTMLElement;
    requestAnimationFrame(() => row.querySelector<HTMLElement>("[aria-selected=true]")?.focus());
  };
  return (
    <div ref={row} class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map(({ id, label, count }) => (
        <button
          key={id}
          type="button"
          role="tab"
          class="tab"
          aria-selected={id === current}
          tabIndex={id === (current ?? tabs[0]!.id) ? 0 : -1}
          onClick={() => onChange(id)}
        >
          {label}
          {count !== undefined && <span class="tab-count">{count}</span>}
        </button>
      ))}
    </div>
  );
}
