/** What users change about themselves: the password, and the second factor. */
import { useState } from "preact/hooks";
import { useGet } from "../lib/load.js";
import { useRun } from "../lib/run.js";
import { signInByPassword, tenantClient, type User } from "../lib/session.js";
import { Badge, Button } from "../ui/button.js";
import { CodeBlock } from "../ui/code-block.js";
import { ActionDialog, Dialog } from "../ui/dialog.js";
import { TextField } from "../ui/field.js";
import { Failure } from "../ui/notice.js";
import { Facts } from "../ui/panel.js";
import { ShownOnce } from "../ui/shown-once.js";
import { tell } from "../ui/toast.js";

interface AccountProps {
  readonly user: User;
  readonly onClose: () => void;
}

type Open = "password" | "turn-on" | "turn-off";

export function Account({ user, onClose }: AccountProps) {
  const [open, setOpen] = useState<Open | null>(null);
  const { data, error } = useGet<{ readonly mfa_enabled: boolean }>("/v1/users/me");
  if (open === "password") return <Password user={user} hasFactor={data?.mfa_enabled === true} onClose={onClose} />;
  if (open === "turn-on") return <TurnOn onClose={onClose} />;
  if (open === "turn-off") return <TurnOff onClose={onClose} />;
  return (
    <Dialog title={user.username} onClose={onClose} actions={<Button onClick={onClose}>Close</Button>}>
      <Facts
        facts={[
          ["Tenant", user.tenant],
          ["Roles", user.roles.join(", ")],
          ["Second factor", <Badge key="factor">{data === undefined ? "…" : data.mfa_enabled ? "on" : "off"}</Badge>],
        ]}
      />
      <Failure error={error} />
      <div class="row">
        <Button onClick={() => setOpen("password")}>Change the password</Button>
        {data !== undefined && (
          <Button onClick={() => setOpen(data.mfa_enabled ? "turn-off" : "turn-on")}>
            {data.mfa_enabled ? "Turn the second factor off" : "Turn a second factor on"}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

interface PasswordProps extends AccountProps {
  readonly hasFactor: boolean;
}

/** All tokens from before end with the old password, this tab's too. */
function Password({ user, hasFactor, onClose }: PasswordProps) {
  const [before, setBefore] = useState("");
  const [wanted, setWanted] = useState("");
  const [again, setAgain] = useState("");
  const { error, isBusy, run } = useRun();
  const isSame = wanted === again;
  const change = async (): Promise<void> => {
    const body = { current_password: before, new_password: wanted };
    if (!(await run(() => tenantClient().request("POST", "/v1/auth/password", { body })))) return;
    // With a second factor the page asks for both, as after any session.
    const next = hasFactor
      ? tenantClient().request("GET", "/v1/users/me")
      : signInByPassword(user.username, wanted, () => Promise.reject(new Error("A second factor is asked for.")));
    await next.catch(() => undefined);
    tell("The password is changed.");
    onClose();
  };
  return (
    <ActionDialog
      title="Change the password"
      action="Change"
      disabled={isBusy || wanted === "" || !isSame}
      error={error}
      onAction={() => void change()}
      onClose={onClose}
    >
      <p class="muted">Everybody who has signed in as {user.username} is signed out. API keys go on.</p>
      <TextField
        label="Present password"
        type="password"
        autocomplete="current-password"
        value={before}
        onInput={setBefore}
        isFocused
      />
      <TextField
        label="New password"
        type="password"
        autocomplete="new-password"
        hint="At least 8 characters."
        value={wanted}
        onInput={setWanted}
      />
      <TextField
        label="New password once more"
        type="password"
        autocomplete="new-password"
        hint={isSame || again === "" ? "" : "The two are not the same."}
        value={again}
        onInput={setAgain}
      />
    </ActionDialog>
  );
}

interface Enrolment {
  readonly secret: string;
  readonly otpauth_url: string;
  readonly recovery_codes: readonly string[];
}

function TurnOn({ onClose }: Pick<AccountProps, "onClose">) {
  const [made, setMade] = useState<Enrolment | null>(null);
  const [code, setCode] = useState("");
  const { error, isBusy, run } = useRun();
  const begin = (): Promise<boolean> =>
    run(async () => setMade(await tenantClient().request<Enrolment>("POST", "/v1/auth/mfa/enroll", { body: {} })));
  const confirm = async (): Promise<void> => {
    const body = { code: code.trim() };
    if (!(await run(() => tenantClient().request("POST", "/v1/auth/mfa/confirm", { body })))) return;
    tell("The second factor is on.");
    onClose();
  };
  return (
    <ActionDialog
      title="Turn a second factor on"
      action={made === null ? "Begin" : "Turn on"}
      disabled={isBusy || (made !== null && code.trim() === "")}
      error={error}
      onAction={() => void (made === null ? begin() : confirm())}
      onClose={onClose}
    >
      {made === null ? (
        <p>From then on, who signs in with the password gives a code of an authenticator, too.</p>
      ) : (
        <>
          <p>
            Give this secret to your authenticator, or <a href={made.otpauth_url}>open it there</a>.
          </p>
          <CodeBlock>{made.secret}</CodeBlock>
          <p>Each of these codes lets you in once without the authenticator.</p>
          <ShownOnce secret={made.recovery_codes.join("\n")} what="them" />
          <CodeField label="Code that the authenticator shows" value={code} onInput={setCode} />
        </>
      )}
    </ActionDialog>
  );
}

function TurnOff({ onClose }: Pick<AccountProps, "onClose">) {
  const [code, setCode] = useState("");
  const [password, setPassword] = useState("");
  const { error, isBusy, run } = useRun();
  const turnOff = async (): Promise<void> => {
    const body = { code: code.trim(), password };
    if (!(await run(() => tenantClient().request("POST", "/v1/auth/mfa/disable", { body })))) return;
    tell("The second factor is off.");
    onClose();
  };
  return (
    <ActionDialog
      title="Turn the second factor off"
      action="Turn off"
      isDangerous
      disabled={isBusy || code.trim() === ""}
      error={error}
      onAction={() => void turnOff()}
      onClose={onClose}
    >
      <CodeField label="Code of your second factor" value={code} onInput={setCode} />
      <TextField
        label="Password"
        type="password"
        autocomplete="current-password"
        value={password}
        onInput={setPassword}
      />
    </ActionDialog>
  );
}

interface CodeFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
}

function CodeField(props: CodeFieldProps) {
  return <TextField {...props} autocomplete="one-time-code" isFocused isCode />;
}
