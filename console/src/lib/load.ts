/** Data that a component asks for when it is shown, and again when what it depends on changes. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { isAbort } from "./errors.js";
import { client } from "./session.js";

export interface Loaded<T> {
  /** The newest answer; it stays while the next one is under way. */
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly again: () => void;
}

export function useLoad<T>(ask: (signal: AbortSignal) => Promise<T>, on: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, "again">>({ data: undefined, error: null, isLoading: true });
  const [round, setRound] = useState(0);
  const asking = useRef(ask);
  asking.current = ask;
  const key = JSON.stringify(on);
  const lastKey = useRef(key);
  useEffect(() => {
    const stop = new AbortController();
    const isOther = lastKey.current !== key;
    lastKey.current = key;
    setState((before) => ({ data: isOther ? undefined : before.data, error: null, isLoading: true }));
    asking.current(stop.signal).then(
      (data) => {
        if (!stop.signal.aborted) setState({ data, error: null, isLoading: false });
      },
      (error: unknown) => {
        if (stop.signal.aborted || isAbort(error)) return;
        setState((before) => ({ data: before.data, error, isLoading: false }));
      },
    );
    return () => stop.abort();
  }, [key, round]);
  return { ...state, again: useCallback(() => setRound((count) => count + 1), []) };
}

type Query = Readonly<Record<string, string | number | undefined>>;

/** What an address of the server answers. */
export function useGet<T>(path: string, query: Query = {}): Loaded<T> {
  return useLoad((signal) => client().request<T>("GET", path, { query, signal }), [path, query]);
}

/** Calls again and again while the component is shown and the page is in front. */
export function useEvery(ms: number, work: () => void): void {
  const current = useRef(work);
  current.current = work;
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") current.current();
    }, ms);
    return () => clearInterval(timer);
  }, [ms]);
}
