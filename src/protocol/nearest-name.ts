/** Finds the name that a misspelt one was probably meant to be, for hints: tables, columns, functions, settings. */

/** Longer ones are no slips of a finger, and not worth the time. */
const NAME_CHARACTERS_MAX = 100;
/** Looked at: some milliseconds. */
const NAMES_MAX = 5000;

/**
 * The nearest of the known names, without regard to case; null: none is close. A third of the letters may differ, of
 * two or three letters one.
 */
export function nearestName(unknown: string, known: Iterable<string>): string | null {
  if (unknown.length === 0 || unknown.length > NAME_CHARACTERS_MAX) return null;
  const wanted = unknown.toLowerCase();
  // A third of the letters may differ; of two names as near, the one that begins more alike.
  let limit = wanted.length === 1 ? 0 : Math.max(1, Math.floor(wanted.length / 3));
  let nearest: string | null = null;
  let alike = -1;
  let looked = 0;
  for (const name of known) {
    if (++looked > NAMES_MAX) break;
    if (Math.abs(name.length - wanted.length) > limit) continue;
    const other = name.toLowerCase();
    const distance = editDistance(wanted, other);
    if (distance > limit || distance >= Math.max(other.length, wanted.length)) continue;
    const begins = commonStart(wanted, other);
    if (distance === limit && begins <= alike) continue;
    nearest = name;
    limit = distance;
    alike = begins;
  }
  return nearest;
}

function commonStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/** Insertions, deletions, replacements, and exchanges of neighbours. */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(replaced, row[j]! + 1, next[j - 1]! + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, before[j - 2]! + 1);
      next.push(least);
    }
    before = row;
    row = next;
  }
  return row[b.length]!;
}
