/** A value that components follow. */
import { useEffect, useReducer } from "preact/hooks";

export interface Store<T> {
  get(): T;
  set(value: T): void;
  update(change: (value: T) => T): void;
  follow(listener: () => void): () => void;
}

export function createStore<T>(first: T): Store<T> {
  let current = first;
  const listeners = new Set<() => void>();
  const set = (value: T): void => {
    if (Object.is(value, current)) return;
    current = value;
    for (const listener of [...listeners]) listener();
  };
  return {
    get: () => current,
    set,
    update: (change) => set(change(current)),
    follow(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}

/** The store's value; the component is drawn again when it changes. */
export function useStore<T>(store: Store<T>): T {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const value = store.get();
  useEffect(() => {
    // It may have changed since it was drawn.
    if (!Object.is(store.get(), value)) redraw(undefined);
    return store.follow(() => redraw(undefined));
  }, [store]);
  return value;
}

/** A store that this browser keeps under a name. What cannot be read counts as `first`. */
export function keptStore<T>(name: string, first: T): Store<T> {
  const key = `tessera.${name}`;
  let value = first;
  try {
    const kept = localStorage.getItem(key);
    if (kept !== null) value = JSON.parse(kept) as T;
  } catch {
    value = first;
  }
  const store = createStore(value);
  store.follow(() => {
    try {
      localStorage.setItem(key, JSON.stringify(store.get()));
    } catch {
      // The browser's room is full, or it keeps nothing: the value lives as long as the page.
    }
  });
  return store;
}
