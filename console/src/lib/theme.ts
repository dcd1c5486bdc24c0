/** Light, dark, or as the system has it. */
import { keptStore } from "./store.js";

export type Theme = "system" | "light" | "dark";

export const theme = keptStore<Theme>("theme", "system");

export function applyTheme(): void {
  const apply = (): void => {
    document.documentElement.dataset.theme = theme.get();
  };
  theme.follow(apply);
  apply();
}

const NEXT: Readonly<Record<Theme, Theme>> = { system: "light", light: "dark", dark: "system" };

export function nextTheme(): void {
  theme.update((current) => NEXT[current]);
}
