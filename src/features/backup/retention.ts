/**
 * Tells which backups of a schedule are old enough to be removed. Pure; called after each backup of the schedule.
 */

export interface Kept {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly finishedAt: number;
  /** Those without which it cannot be restored. */
  readonly needs: readonly string[];
}

export interface Retention {
  readonly keep: number | null;
  readonly keepDays: number | null;
}

const DAY_MS = 86_400_000;

/**
 * The newest `keep` stay that are not older than `keepDays`, in any case the newest one, and whatever those need.
 * Answers the others, in an order in which they can be deleted. `backups`: newest first.
 */
export function expired<B extends Kept>(backups: readonly B[], { keep, keepDays }: Retention, nowMs: number): B[] {
  const byId = new Map(backups.map((backup) => [backup.id, backup]));
  const stays = new Set<string>();
  const stay = (id: string): void => {
    if (stays.has(id)) return;
    stays.add(id);
    for (const needed of byId.get(id)?.needs ?? []) stay(needed);
  };
  for (const [i, { id, finishedAt }] of backups.entries()) {
    const isTooMany = keep !== null && i >= keep;
    const isTooOld = keepDays !== null && nowMs - finishedAt > keepDays * DAY_MS;
    if (i === 0 || (!isTooMany && !isTooOld)) stay(id);
  }
  return backups.filter(({ id }) => !stays.has(id));
}

/** Whether the next backup must be a full one. `kinds`: kinds of the existing ones, newest first. */
export function isFullDue(kinds: readonly ("full" | "incremental")[], fullEvery: number): boolean {
  const sinceFull = kinds.indexOf("full");
  return sinceFull === -1 || sinceFull + 1 >= fullEvery;
}
