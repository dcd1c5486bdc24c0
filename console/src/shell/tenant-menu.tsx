/**
 * The tenant whose data is shown, and the way to others and to its branches. A credential belongs to one tenant, so
 * that whoever works in several signs in to each once, and then changes between them.
 */
import { useEffect, useState } from "preact/hooks";
import { useLoad } from "../lib/load.js";
import { goTo } from "../lib/router.js";
import { branchShown, otherSignIns, session, showBranch, switchTo, tenantClient, type User } from "../lib/session.js";
import { useStore } from "../lib/store.js";
import { Dialog } from "../ui/dialog.js";
import { Icon } from "../ui/icon.js";
import { moveInMenu, useDismiss } from "../ui/menu.js";
import { attempt } from "../ui/toast.js";
import { SignInForm } from "./sign-in.js";

export function TenantMenu({ user }: { readonly user: User }) {
  const [isOpen, setOpen] = useState(false);
  const [isSigningIn, setSigningIn] = useState(false);
  const others = useStore(otherSignIns);
  const place = useDismiss(isOpen, () => setOpen(false));
  const current = useStore(session);
  // Whoever signs in as the same user again is done, too.
  useEffect(() => setSigningIn(false), [current]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the entries have the focus; this hears their arrows.
    <div class="menu-place" ref={place} onKeyDown={moveInMenu}>
      <button
        type="button"
        class="badge tenant-button"
        aria-expanded={isOpen}
        title="Tenant"
        onClick={() => setOpen((now) => !now)}
      >
        {user.tenant}
        <Icon name="down" />
      </button>
      {isOpen && (
        <div class="menu from-left">
          <Branches tenant={user.tenant} onChosen={() => setOpen(false)} />
          {others.map((other) => (
            <button
              key={`${other.tenant}/${other.username}`}
              type="button"
              onClick={() => {
                setOpen(false);
                void attempt(() => switchTo(other));
              }}
            >
              <strong>{other.tenant}</strong> <span class="muted">{other.username}</span>
            </button>
          ))}
          <button
            type="button"
            onClick={() => {
              // The entry goes. The dialog gives the focus back to the button.
              place.current!.querySelector("button")!.focus();
              setOpen(false);
              setSigningIn(true);
            }}
          >
            Sign in to another tenant …
          </button>
        </div>
      )}
      {isSigningIn && (
        <Dialog title="Another tenant" onClose={() => setSigningIn(false)}>
          <p>The user's name or the key tells the tenant. You stay signed in here, too.</p>
          <SignInForm />
        </Dialog>
      )}
    </div>
  );
}

/** In the menu; all of them are on their page. */
const BRANCHES_MAX = 8;

interface BranchesProps {
  readonly tenant: string;
  readonly onChosen: () => void;
}

/** The tenant's branches, which PostgreSQL's clients know as databases. */
function Branches({ tenant, onChosen }: BranchesProps) {
  const { data } = useLoad(
    (signal) =>
      tenantClient().request<{ branches: readonly { readonly name: string }[]; total: number }>("GET", "/v1/branches", {
        query: { limit: BRANCHES_MAX },
        signal,
      }),
    [],
  );
  if (data === undefined || data.total === 0) return null;
  const shown = branchShown();
  const choose = (name: string | null): void => {
    onChosen();
    showBranch(name);
  };
  return (
    <>
      {shown !== null && (
        <button type="button" onClick={() => choose(null)}>
          <strong>{tenant}</strong> <span class="muted">itself</span>
        </button>
      )}
      {data.branches
        .filter(({ name }) => name !== shown)
        .map(({ name }) => (
          <button key={name} type="button" onClick={() => choose(name)}>
            <strong>{name}</strong> <span class="muted">branch</span>
          </button>
        ))}
      {data.total > BRANCHES_MAX && (
        <button
          type="button"
          onClick={() => {
            onChosen();
            goTo(["branches"]);
          }}
        >
          All {data.total} branches …
        </button>
      )}
    </>
  );
}
