/** Work that a person starts: whether it is under way, and how it failed the last time. */
import { useState } from "preact/hooks";

export interface Runner {
  readonly error: unknown;
  readonly isBusy: boolean;
  /** Gives whether it was done. */
  readonly run: (work: () => Promise<unknown>) => Promise<boolean>;
}

export function useRun(): Runner {
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const run = async (work: () => Promise<unknown>): Promise<boolean> => {
    setBusy(true);
    setError(null);
    try {
      await work();
      return true;
    } catch (failure) {
      setError(failure);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { error, isBusy, run };
}
