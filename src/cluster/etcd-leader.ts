/**
 * Which of etcd's members leads. Appends go to it: another member would hand them on to it, and would hear later that
 * they are done. It is looked for beside the calls, and only when an answer or a failure says that it may be another
 * one. Owned by one client.
 */
const LOOK_AGAIN_MS = 1000;

export class EtcdLeader {
  /** Null: not known, or none of those that the client knows. */
  member: number | null = null;
  private term = 0n;
  private isKnown = false;
  private isLooking = false;
  private lookedMs = Number.NEGATIVE_INFINITY;

  /** `find` tells which member says of itself that it leads. */
  constructor(private readonly find: () => Promise<number | null>) {}

  /** An answer had the number of that term: each has one leader at most. */
  heard(term: bigint): void {
    if (term !== this.term) this.isKnown = false;
    this.term = term;
    if (!this.isKnown) this.look();
  }

  failed(member: number): void {
    if (member === this.member) this.member = null;
    this.isKnown = false;
  }

  private look(): void {
    const now = performance.now();
    if (this.isLooking || now - this.lookedMs < LOOK_AGAIN_MS) return;
    this.lookedMs = now;
    this.isLooking = true;
    this.isKnown = true;
    void this.find().then((member) => {
      this.isLooking = false;
      this.member = member;
    });
  }
}
