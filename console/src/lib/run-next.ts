/**
 * The statement that the query page runs as it opens it. A button of the console asks for it, and never an address,
 * which anybody can send.
 */
let next: string | null = null;

export function runNext(text: string): void {
  next = text;
}

/** Once. */
export function takeNext(text: string): boolean {
  if (next !== text) return false;
  next = null;
  return true;
}
