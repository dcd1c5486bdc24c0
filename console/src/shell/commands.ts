/** What the palette offers. */
import { catalog, isForUsers } from "../lib/catalog.js";
import { idOfRelation } from "../lib/relation-names.js";
import { goTo } from "../lib/router.js";
import { signOut, type User } from "../lib/session.js";
import { nextTheme } from "../lib/theme.js";
import type { IconName } from "../ui/icon.js";
import { AI_TABS, OPERATE_TABS, type PageTab, tabsFor } from "./page-tabs.js";
import { pagesFor } from "./pages.js";
import type { Command } from "./palette.js";

export function commandsFor(user: User, show: (what: "help" | "account") => void): readonly Command[] {
  const pages = pagesFor(user);
  const opened = pages.map(
    ({ id, title, icon, letter }): Command => ({
      ...{ id: `page-${id}`, title: `Open ${title}`, group: "Pages", icon, keys: `g ${letter}` },
      run: () => goTo([id]),
    }),
  );
  const tabs = pages.flatMap((page) =>
    tabsFor(TABS[page.id] ?? [], user).map(
      ({ id, label }): Command => ({
        ...{ id: `page-${page.id}-${id}`, title: label, group: page.title, icon: page.icon },
        run: () => goTo([page.id, id]),
      }),
    ),
  );
  // The Data page knows which of them are collections.
  const things = (catalog.get().objects ?? []).filter(isForUsers).map(({ kind, schema, name }): Command => {
    const shown = idOfRelation({ schema, name });
    const icon: IconName = kind === "view" ? "view" : "table";
    return {
      ...{ id: `table-${shown}`, title: shown, group: kind === "view" ? "View" : "Table", icon },
      run: () => goTo(["data", "table", shown]),
    };
  });
  const rest: Command[] = [
    {
      id: "theme",
      title: "Switch between light, dark and system colours",
      group: "View",
      icon: "theme",
      run: nextTheme,
    },
    { id: "help", title: "Show keyboard shortcuts", group: "Help", icon: "help", keys: "?", run: () => show("help") },
    { id: "docs", title: "Read the documents", group: "Help", icon: "document", run: () => openPage("/docs/") },
    {
      id: "interface",
      title: "Browse the interface",
      group: "Help",
      icon: "braces",
      run: () => openPage("/v1/api-docs/"),
    },
    {
      ...{ id: "account", title: "Your account: password and second factor", group: "Session", icon: "user" },
      run: () => show("account"),
    },
    { id: "out", title: "Sign out", group: "Session", icon: "out", run: signOut },
  ];
  return [...opened, ...rest, ...tabs, ...things];
}

const TABS: Readonly<Record<string, readonly PageTab[]>> = { ai: AI_TABS, operate: OPERATE_TABS };

function openPage(path: string): void {
  window.open(path, "_blank", "noopener");
}
