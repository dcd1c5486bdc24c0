/** The whole console: the sign-in, or the shell with the page that the address names. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { loadCatalog } from "./lib/catalog.js";
import { askAgain, useEvery, useLoad, useReturn } from "./lib/load.js";
import { goTo, place } from "./lib/router.js";
import { isOperator, resume, session, signOut, type User } from "./lib/session.js";
import { useStore } from "./lib/store.js";
import { PAGES, type PageEntry, type PageProps, pagesFor } from "./shell/pages.js";
import { Shell } from "./shell/shell.js";
import { Providers, SignInForm, SignInPage, SignInTitle } from "./shell/sign-in.js";
import { Busy, Button } from "./ui/button.js";
import { Dialog } from "./ui/dialog.js";
import { Empty, Failure, NewVersion } from "./ui/notice.js";
import { Page } from "./ui/panel.js";
import { Toasts, tellError } from "./ui/toast.js";

const ASK_AGAIN_MS = 4_000;

export function App() {
  const current = useStore(session);
  useEvery(ASK_AGAIN_MS, askAgain);
  if (current.state === "opening") return <Opening failure={current.failure} />;
  return (
    <>
      {current.state === "out" && <SignInPage />}
      {current.state === "in" && (
        <SignedIn
          user={current.user}
          branch={current.branch}
          key={`${current.user.tenant}/${current.user.username}/${current.branch ?? ""}`}
        />
      )}
      {current.state === "in" && current.isExpired && <SignInAgain user={current.user} />}
      <Toasts />
    </>
  );
}

/** The sign-in that this tab has kept. It stays while the server does not answer. */
function Opening({ failure }: { readonly failure?: unknown }) {
  if (failure === undefined) return <Busy label="Opening" />;
  return (
    <main class="sign-in">
      <div class="sign-in-card">
        <SignInTitle />
        <Failure error={failure} />
        <p class="row">
          <Button kind="primary" onClick={() => void resume()}>
            Try again
          </Button>
          <Button onClick={signOut}>Sign out</Button>
        </p>
      </div>
    </main>
  );
}

function SignedIn({ user, branch }: { readonly user: User; readonly branch: string | null }) {
  const { path, query } = useStore(place);
  const pages = pagesFor(user);
  const [id = pages[0]!.id, ...rest] = path;
  const entry = pages.find((page) => page.id === id);
  const loading = useLoad(loadCatalog, []);
  useReturn(loading.again);
  useEffect(() => {
    if (loading.error !== null) tellError(loading.error);
  }, [loading.error]);
  useEffect(() => {
    const where = isOperator(user) ? "Tessera" : user.tenant;
    document.title = `${entry?.title ?? "Not found"} · ${where}${branch === null ? "" : ` · branch ${branch}`}`;
  }, [entry, user, branch]);
  return (
    <Shell user={user} branch={branch} current={id}>
      {entry === undefined ? (
        <NoPage id={id} first={pages[0]!} />
      ) : (
        <LoadedPage key={entry.id} entry={entry} path={rest} query={query} />
      )}
    </Shell>
  );
}

function NoPage({ id, first }: { readonly id: string; readonly first: PageEntry }) {
  const hidden = PAGES.find((page) => page.id === id);
  return (
    <Page title={hidden?.title ?? "Not found"}>
      <Empty icon="help" title={hidden === undefined ? "There is no such page" : "This page is for administrators"}>
        <Button onClick={() => goTo([first.id])}>Open {first.title}</Button>
      </Empty>
    </Page>
  );
}

const loaded = new Map<string, ComponentType<PageProps>>();

function LoadedPage({ entry, ...props }: PageProps & { readonly entry: PageEntry }) {
  const [Loaded, setLoaded] = useState<ComponentType<PageProps> | undefined>(() => loaded.get(entry.id));
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    if (Loaded !== undefined) return;
    entry.load().then((component) => {
      loaded.set(entry.id, component);
      setLoaded(() => component);
    }, setError);
  }, []);
  if (error !== null) return <NewVersion />;
  return Loaded === undefined ? <Busy /> : <Loaded {...props} />;
}

/** What is open stays behind it. */
function SignInAgain({ user }: { readonly user: User }) {
  return (
    <Dialog title="Your session has ended" onClose={signOut}>
      <p>Sign in again to go on. Everything that is open stays as it is.</p>
      <SignInForm username={user.username} />
      <Providers tenant={user.tenant} />
    </Dialog>
  );
}
