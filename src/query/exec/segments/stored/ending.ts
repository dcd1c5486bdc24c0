/** An order to end, for the actor's own work and for threads. State: whether it was given. */
export class Ending {
  /** Not 0: it was given. */
  readonly flag = new Int32Array(new SharedArrayBuffer(4));
  /** Resolves when it is given. */
  readonly given: Promise<void>;
  private resolve!: () => void;

  constructor() {
    this.given = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  get isGiven(): boolean {
    return Atomics.load(this.flag, 0) !== 0;
  }

  give(): void {
    Atomics.store(this.flag, 0, 1);
    this.resolve();
  }
}
