/** A button that opens a list of things to do. Escape, a click elsewhere and a choice close it; arrows move in it. */
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "./button.js";
import type { IconName } from "./icon.js";

/** Calls `close` on Escape and on a click outside of the element, while it is open. */
export function useDismiss(isOpen: boolean, close: () => void) {
  const place = useRef<HTMLDivElement>(null);
  const closing = useRef(close);
  closing.current = close;
  useEffect(() => {
    if (!isOpen) return;
    const listen = (event: Event): void => {
      const isKey = event instanceof KeyboardEvent;
      if (isKey ? event.key !== "Escape" : place.current!.contains(event.target as Node)) return;
      // The entry that has the focus goes, and the button that opened the menu stays.
      if (isKey && place.current!.contains(document.activeElement)) place.current!.querySelector("button")?.focus();
      closing.current();
    };
    window.addEventListener("pointerdown", listen);
    window.addEventListener("keydown", listen);
    return () => {
      window.removeEventListener("pointerdown", listen);
      window.removeEventListener("keydown", listen);
    };
  }, [isOpen]);
  return place;
}

/** Of an open menu: moves the focus up or down, around its ends. */
export function moveInMenu(event: KeyboardEvent): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0) return;
  event.preventDefault();
  const entries = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("button")];
  const at = entries.indexOf(document.activeElement as HTMLElement);
  entries[(at + step + entries.length) % entries.length]?.focus();
}

export interface MenuEntry {
  readonly label: string;
  readonly run: () => void;
}

interface MenuProps {
  readonly icon: IconName;
  readonly label: string;
  readonly entries: readonly MenuEntry[];
  readonly kind?: "plain" | "quiet";
  /** It opens above the button. */
  readonly isUp?: boolean;
}

export function Menu({ icon, label, entries, kind = "quiet", isUp }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const place = useDismiss(isOpen, () => setOpen(false));
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the entries have the focus; this hears their arrows.
    <div class="menu-place" ref={place} onKeyDown={moveInMenu}>
      <Button kind={kind} icon={icon} label={label} expanded={isOpen} onClick={() => setOpen((now) => !now)} />
      {isOpen && (
        <div class={isUp === true ? "menu up" : "menu"}>
          {entries.map((entry) => (
            <button
              key={entry.label}
              type="button"
              onClick={() => {
                // The entry goes. A dialog that it opens gives the focus back to the button.
                place.current!.querySelector("button")!.focus();
                setOpen(false);
                entry.run();
              }}
            >
              {entry.label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
