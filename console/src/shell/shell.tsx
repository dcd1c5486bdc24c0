/** What stands around every page: navigation, tenant and user, and what works by keys everywhere. */
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { hasMod, isInField, MOD, useKeys } from "../lib/keys.js";
import { lazyDialog } from "../lib/lazy.js";
import { goTo, linkTo } from "../lib/router.js";
import { signOut, type User } from "../lib/session.js";
import { keptStore, useStore } from "../lib/store.js";
import { nextTheme, theme } from "../lib/theme.js";
import { Button, Keys } from "../ui/button.js";
import { Dialog } from "../ui/dialog.js";
import { Icon } from "../ui/icon.js";
import { BranchBar } from "./branch-bar.js";
import { commandsFor } from "./commands.js";
import { Mark } from "./mark.js";
import { pagesFor } from "./pages.js";
import { Palette } from "./palette.js";
import { TenantMenu } from "./tenant-menu.js";

const Account = lazyDialog(async () => (await import("./account.js")).Account);

/** Milliseconds in which a letter follows g. */
const PAIR_MS = 1_200;

const isNarrow = keptStore("navigation.narrow", false);

interface ShellProps {
  readonly user: User;
  readonly branch: string | null;
  readonly current: string;
  readonly children: ComponentChildren;
}

export function Shell({ user, branch, current, children }: ShellProps) {
  const [open, setOpen] = useState<"palette" | "help" | "account" | null>(null);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const narrow = useStore(isNarrow);
  const lastG = useRef(0);
  useKeys((event) => {
    if (hasMod(event) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      setOpen((now) => (now === null ? "palette" : null));
      return;
    }
    if (open !== null || isInField(event) || hasMod(event) || event.altKey) return;
    if (event.key === "?") setOpen("help");
    else if (event.key === "g") lastG.current = event.timeStamp;
    else if (event.timeStamp - lastG.current < PAIR_MS) {
      const page = pagesFor(user).find(({ letter }) => letter === event.key);
      lastG.current = 0;
      if (page !== undefined) goTo([page.id]);
    }
  });
  return (
    <div
      class={`shell${narrow ? " narrow" : ""}${isMenuOpen ? " menu-open" : ""}${branch === null ? "" : " in-branch"}`}
    >
      <button type="button" class="skip" onClick={() => document.getElementById("content")?.focus()}>
        Skip to the content
      </button>
      <TopBar user={user} onMenu={() => setMenuOpen((now) => !now)} onOpen={setOpen} />
      {branch !== null && <BranchBar tenant={user.tenant} branch={branch} />}
      <nav class="navigation" aria-label="Pages">
        {pagesFor(user).map(({ id, title, icon }) => (
          <a
            key={id}
            href={linkTo([id])}
            aria-current={id === current ? "page" : undefined}
            title={title}
            onClick={() => setMenuOpen(false)}
          >
            <Icon name={icon} />
            <span>{title}</span>
          </a>
        ))}
        <div class="navigation-foot">
          <a href="/docs/" target="_blank" rel="noreferrer" title="Documents">
            <Icon name="document" />
            <span>Documents</span>
          </a>
          <button type="button" class="narrower" onClick={() => isNarrow.update((now) => !now)} title="Narrow or wide">
            <Icon name="side" />
            <span>Narrow</span>
          </button>
        </div>
      </nav>
      <main class="content" id="content" tabIndex={-1}>
        {children}
      </main>
      {open === "palette" && <Palette commands={commandsFor(user, setOpen)} onClose={() => setOpen(null)} />}
      {open === "account" && <Account user={user} onClose={() => setOpen(null)} />}
      {open === "help" && <Shortcuts user={user} onClose={() => setOpen(null)} />}
    </div>
  );
}

interface TopBarProps {
  readonly user: User;
  readonly onMenu: () => void;
  readonly onOpen: (what: "palette" | "account") => void;
}

function TopBar({ user, onMenu, onOpen }: TopBarProps) {
  const colours = useStore(theme);
  return (
    <header class="top">
      <span class="menu-button">
        <Button kind="quiet" icon="menu" label="Pages" onClick={onMenu} />
      </span>
      <a class="brand" href="#/" aria-label="Tessera">
        <Mark />
        <span>Tessera</span>
      </a>
      <TenantMenu user={user} />
      <button type="button" class="palette-button" onClick={() => onOpen("palette")}>
        <Icon name="search" />
        <span>Find or do …</span>
        <Keys keys={[MOD, "K"]} />
      </button>
      <span class="spacer" />
      <Button kind="quiet" icon="theme" label={`Colours: ${colours}`} onClick={nextTheme} />
      <Button kind="quiet" icon="user" label="Your account" onClick={() => onOpen("account")}>
        {user.username}
      </Button>
      <Button kind="quiet" icon="out" label="Sign out" onClick={signOut} />
    </header>
  );
}

function Shortcuts({ user, onClose }: { readonly user: User; readonly onClose: () => void }) {
  const shortcuts: readonly (readonly [string, readonly string[]])[] = [
    ["Find a page, a table or a command", [MOD, "K"]],
    ["Leave the editor, in which Tab writes", ["Esc", "Tab"]],
    ["Run the statement at the cursor, or the selection", [MOD, "Enter"]],
    ["Run all statements", [MOD, "Shift", "Enter"]],
    ["Stop the running statement", [MOD, "."]],
    ["New query", ["Alt", "T"]],
    ["In a graph or a map: move, larger and smaller", ["↑", "↓", "←", "→", "+", "-"]],
    ["In a graph: choose the node in the middle, expand it", ["Enter"]],
    ["With the lasso of a map: set a corner, choose what is inside", ["Enter", "Space"]],
    ["Move in a result; Enter shows a value", ["↑", "↓", "←", "→"]],
    ["Sort a result by the cell's column", ["s"]],
    ["Copy a cell", [MOD, "C"]],
    ...pagesFor(user).map(({ title, letter }) => [`Open ${title}`, ["g", letter]] as const),
    ["This list", ["?"]],
  ];
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="shortcuts">
        {shortcuts.map(([what, keys]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>
              <Keys keys={keys} />
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
