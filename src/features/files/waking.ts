/**
 * Waits of several for one caller: all that wait go on when it wakes them, or after their time. Who waits says what it had
 * heard when it found nothing to do, so that nothing that came since is missed. Owned by folder-work.ts.
 */
export class Waking {
  private count = 0;
  private readonly waiting = new Set<() => void>();

  /** How often it was woken. */
  get heard(): number {
    return this.count;
  }

  wake(): void {
    this.count++;
    for (const go of [...this.waiting]) go();
  }

  wait(heard: number, ms: number): Promise<void> {
    if (heard !== this.count) return Promise.resolve();
    return new Promise((resolve) => {
      const go = (): void => {
        clearTimeout(timer);
        this.waiting.delete(go);
        resolve();
      };
      const timer = setTimeout(go, ms);
      this.waiting.add(go);
    });
  }
}
