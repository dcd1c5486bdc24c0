/** The way in: a user's password, with the second factor where there is one, or an API key. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useLoad } from "../lib/load.js";
import {
  goToProvider,
  listProviders,
  type Provider,
  providerFailure,
  tenantOfAddress,
} from "../lib/provider-sign-in.js";
import { place } from "../lib/router.js";
import { signInByKey, signInByPassword } from "../lib/session.js";
import { useStore } from "../lib/store.js";
import { Button } from "../ui/button.js";
import { TextField } from "../ui/field.js";
import { Failure } from "../ui/notice.js";
import { Tabs } from "../ui/tabs.js";
import { Mark } from "./mark.js";
import { preloadPage } from "./pages.js";

type Way = "password" | "key";

export function SignInForm({ username: known = "" }: { readonly username?: string }) {
  const [way, setWay] = useState<Way>("password");
  const [username, setUsername] = useState(known);
  const [password, setPassword] = useState("");
  const [key, setKey] = useState("");
  const [code, setCode] = useState("");
  const [asksCode, setAsksCode] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const giveCode = useRef<((code: string) => void) | null>(null);

  const askCode = (): Promise<string> => {
    setAsksCode(true);
    setBusy(false);
    return new Promise((resolve) => {
      giveCode.current = resolve;
    });
  };
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    if (giveCode.current !== null) {
      giveCode.current(code.trim());
      giveCode.current = null;
      return;
    }
    try {
      await (way === "key" ? signInByKey(key.trim()) : signInByPassword(username, password, askCode));
    } catch (failure) {
      setError(failure);
      setAsksCode(false);
      setCode("");
      giveCode.current = null;
    }
    setBusy(false);
  };
  const tabs = [
    { id: "password" as const, label: "Password" },
    { id: "key" as const, label: "API key" },
  ];
  return (
    <form class="sign-in-form" onSubmit={submit}>
      {!asksCode && <Tabs label="How to sign in" tabs={tabs} current={way} onChange={setWay} />}
      {asksCode && (
        <TextField
          label="Code of your second factor"
          hint="From your authenticator, or a recovery code."
          value={code}
          onInput={setCode}
          autocomplete="one-time-code"
          isFocused
          required
        />
      )}
      {!asksCode && way === "password" && (
        <>
          <TextField
            label="User name"
            value={username}
            onInput={setUsername}
            autocomplete="username"
            isFocused={known === ""}
            required
          />
          <TextField
            label="Password"
            type="password"
            value={password}
            onInput={setPassword}
            autocomplete="current-password"
            isFocused={known !== ""}
            required
          />
        </>
      )}
      {!asksCode && way === "key" && (
        <TextField label="API key" type="password" value={key} onInput={setKey} isFocused required isCode />
      )}
      <Failure error={error} />
      <Button kind="primary" type="submit" disabled={isBusy}>
        {isBusy ? "Signing in …" : asksCode ? "Confirm" : "Sign in"}
      </Button>
    </form>
  );
}

/** One button for each provider that the server knows, and for each of the tenant's own. */
export function Providers({ tenant }: { readonly tenant: string | null }) {
  const { data: providers = [] } = useLoad((signal) => listProviders(tenant, signal), [tenant]);
  const [isBusy, setBusy] = useState(false);
  const failure = useStore(providerFailure);
  const go = (provider: Provider): void => {
    setBusy(true);
    providerFailure.set(null);
    goToProvider(provider).catch((error: unknown) => {
      providerFailure.set(error);
      setBusy(false);
    });
  };
  if (providers.length === 0 && failure === null) return null;
  return (
    <div class="sign-in-form sign-in-providers">
      <Failure error={failure} />
      {providers.map((provider) => (
        <Button key={provider.id} disabled={isBusy} onClick={() => go(provider)}>
          Sign in with {provider.label}
        </Button>
      ))}
    </div>
  );
}

export function SignInTitle() {
  return (
    <h1>
      <Mark /> Tessera
    </h1>
  );
}

export function SignInPage() {
  useEffect(() => preloadPage(place.get().path[0]), []);
  return (
    <main class="sign-in">
      <div class="sign-in-card">
        <SignInTitle />
        <p class="lead">Sign in to {location.host}</p>
        <SignInForm />
        <Providers tenant={tenantOfAddress()} />
      </div>
    </main>
  );
}
