/** Short messages at the edge of the page: that something is done, or failed. */
import { useEffect, useState } from "preact/hooks";
import { messageOf } from "../lib/errors.js";
import { heldUntil } from "../lib/session.js";
import { createStore, useStore } from "../lib/store.js";
import { Button } from "./button.js";

interface Toast {
  readonly id: number;
  readonly tone: "good" | "bad";
  readonly text: string;
}

const SHOWN_MS = 5_000;
const toasts = createStore<readonly Toast[]>([]);
let lastId = 0;

function show(tone: Toast["tone"], text: string): void {
  const id = ++lastId;
  toasts.update((all) => [...all.slice(-2), { id, tone, text }]);
  // Who has to read an error closes it.
  if (tone === "good") setTimeout(() => dismiss(id), SHOWN_MS);
}

function dismiss(id: number): void {
  toasts.update((all) => all.filter((toast) => toast.id !== id));
}

export function tell(text: string): void {
  show("good", text);
}

export function tellError(error: unknown): void {
  show("bad", messageOf(error));
}

/** Does the work; its error is shown. Gives whether it was done. */
export async function attempt(work: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await work();
    if (done !== undefined) tell(done);
    return true;
  } catch (error) {
    tellError(error);
    return false;
  }
}

export function Toasts() {
  const all = useStore(toasts);
  return (
    <div class="toasts" aria-live="polite">
      <Held />
      {all.map(({ id, tone, text }) => (
        <div key={id} class={`toast ${tone}`} role={tone === "bad" ? "alert" : "status"}>
          <span>{text}</span>
          <Button kind="quiet" icon="close" label="Dismiss" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}

/** Shorter waits are not worth a word; after longer ones the client does not ask again, and the error is shown. */
const [HELD_MIN_MS, HELD_MAX_MS] = [1_500, 30_000];

/** Why nothing comes while the server asks to come back later. */
function Held() {
  const until = useStore(heldUntil);
  const [shown, setShown] = useState(0);
  useEffect(() => {
    const wait = until - Date.now();
    if (wait < HELD_MIN_MS || wait > HELD_MAX_MS) return;
    setShown(Math.ceil(wait / 1_000));
    const timer = setTimeout(() => setShown(0), wait);
    return () => clearTimeout(timer);
  }, [until]);
  if (shown === 0) return null;
  return (
    <div class="toast" role="status">
      <span>There were too many requests. The page goes on in {shown} seconds.</span>
    </div>
  );
}
