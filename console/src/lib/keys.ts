/** Shortcuts that work wherever the focus is, and pairs of letters that work outside of fields. */
import { useEffect, useRef } from "preact/hooks";

export const isMac = /mac/i.test(navigator.platform);
/** As keyboards name it. */
export const MOD = isMac ? "⌘" : "Ctrl";

export function hasMod(event: KeyboardEvent): boolean {
  return isMac ? event.metaKey : event.ctrlKey;
}

export function isInField(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.role === "grid")
  );
}

/** Listens while the component is shown. */
export function useKeys(handle: (event: KeyboardEvent) => void): void {
  const current = useRef(handle);
  current.current = handle;
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => current.current(event);
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
}
