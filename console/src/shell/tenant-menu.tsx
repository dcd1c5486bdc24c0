/**
 * The tenant whose data is shown, and the way to others. A credential belongs to one tenant, so that whoever works in
 * several signs in to each once, and then changes between them.
 */
import { useEffect, useState } from "preact/hooks";
import { otherSignIns, session, switchTo, type User } from "../lib/session.js";
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
