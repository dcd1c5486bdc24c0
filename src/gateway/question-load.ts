/**
 * How many questions about callers are under way. Tokens of other issuers, which wait for servers that are not ours,
 * have bounds of their own: a flood of them, or an issuer that does not answer, keeps nobody else out. Made and called
 * by admission.ts; owns the counts.
 */

/** Of users and API keys, which the directory answers by itself; and as many of tokens that were good before. */
const SURE_MAX = 1_000;
const FOREIGN_MAX = 100;
const PER_ISSUER_MAX = 50;

/** Whose question it is. */
export interface Asker {
  /** Of a token; null: no token. */
  readonly issuer: string | null;
  /** The same token was good before. */
  readonly isProven: boolean;
}

export class QuestionLoad {
  private readonly sure = { own: 0, proven: 0 };
  private foreign = 0;
  private readonly byIssuer = new Map<string, number>();

  get size(): number {
    return this.sure.own + this.sure.proven + this.foreign;
  }

  /** The answer is called once at the question's end; null: there are too many. */
  begin({ issuer, isProven }: Asker): (() => void) | null {
    if (issuer === null || isProven) {
      const { sure } = this;
      const kind = issuer === null ? "own" : "proven";
      if (sure[kind] >= SURE_MAX) return null;
      sure[kind]++;
      return () => {
        sure[kind]--;
      };
    }
    const ofIssuer = this.byIssuer.get(issuer) ?? 0;
    if (this.foreign >= FOREIGN_MAX || ofIssuer >= PER_ISSUER_MAX) return null;
    this.foreign++;
    this.byIssuer.set(issuer, ofIssuer + 1);
    return () => this.endForeign(issuer);
  }

  private endForeign(issuer: string): void {
    this.foreign--;
    const left = this.byIssuer.get(issuer)! - 1;
    if (left === 0) this.byIssuer.delete(issuer);
    else this.byIssuer.set(issuer, left);
  }
}
