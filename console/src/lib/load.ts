/** Data that a component asks for when it is shown, and again when what it depends on changes. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { isAbort, isPassing } from "./errors.js";
import { client } from "./session.js";
import { createStore } from "./store.js";

export interface Loaded<T> {
  /** The newest answer. It stays while the next one is under way, as the error does. */
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly again: () => void;
  /** The same, unless the question is under way: for what asks every few seconds, whether or not there are answers. */
  readonly renew: () => void;
}

/** What asks again for data that could not be had because the server, or the tenant, does not answer at present. */
export const missing = createStore<ReadonlySet<() => void>>(new Set());

export function askAgain(): void {
  for (const renew of missing.get()) renew();
}

const NOTHING = { data: undefined, error: null };

export function useLoad<T>(ask: (signal: AbortSignal) => Promise<T>, on: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, "again" | "renew">>({
    data: undefined,
    error: null,
    isLoading: true,
  });
  const [round, setRound] = useState(0);
  const asking = useRef(ask);
  asking.current = ask;
  const key = JSON.stringify(on);
  const lastKey = useRef(key);
  useEffect(() => {
    const stop = new AbortController();
    const isOther = lastKey.current !== key;
    lastKey.current = key;
    setState(({ data, error }) => ({ ...(isOther ? NOTHING : { data, error }), isLoading: true }));
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
  const again = useCallback(() => setRound((count) => count + 1), []);
  const isUnderWay = useRef(true);
  isUnderWay.current = state.isLoading;
  const renew = useCallback(() => {
    if (!isUnderWay.current) again();
  }, []);
  const isMissing = isPassing(state.error);
  useEffect(() => {
    if (!isMissing) return;
    missing.update((all) => new Set([...all, renew]));
    return () => missing.update((all) => new Set([...all].filter((one) => one !== renew)));
  }, [isMissing]);
  return { ...state, again, renew };
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

/**
 * Calls when a person comes back to the page: meanwhile others may have changed, or restored, what it shows. What is
 * under way was asked before, so callers ask again, and do not only renew.
 */
export function useReturn(work: () => void): void {
  const current = useRef(work);
  current.current = work;
  useEffect(() => {
    const call = (): void => current.current();
    window.addEventListener("focus", call);
    return () => window.removeEventListener("focus", call);
  }, []);
}
