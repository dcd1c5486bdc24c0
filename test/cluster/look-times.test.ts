/** When a thread looks at the cluster's view. */
import t from "tap";
import { type LookPeriods, LookTimes } from "../../src/cluster/look-times.js";

/** Longer than a test may take: what happens happens without it. */
const NEVER = 2 ** 30;

class Looks {
  looks = 0;
  need: keyof LookPeriods = "seldom";
  isLive = true;
  told: () => void = () => undefined;
  private readonly waiting: (() => void)[] = [];
  readonly times: LookTimes;

  constructor(periods: Partial<LookPeriods> = {}) {
    const changes = (told: () => void) => {
      this.told = told;
      const looks = this;
      return {
        get isLive() {
          return looks.isLive;
        },
        close: () => undefined,
      };
    };
    this.times = new LookTimes({ changes }, { soon: 1, often: NEVER, seldom: NEVER, ...periods });
    this.times.start({
      need: () => this.need,
      look: async () => {
        this.looks++;
        for (const seen of this.waiting.splice(0)) setImmediate(seen);
      },
    });
  }

  /** Resolves after the next look. */
  next(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}

t.test("it looks at the beginning, when it is told of a change, and when it must sooner than it thought", async (t) => {
  const looks = new Looks();
  t.teardown(() => looks.times.close());
  await looks.next();
  looks.told();
  await looks.next();
  looks.need = "soon";
  looks.times.again();
  await looks.next();
  t.equal(looks.looks, 3);
});

t.test("without anybody who tells of changes it looks more often", async (t) => {
  const looks = new Looks({ often: 1 });
  t.teardown(() => looks.times.close());
  await looks.next();
  looks.isLive = false;
  looks.times.again();
  await looks.next();
  await looks.next();
  t.pass();
});

t.test("who looks while it looks shares that; afresh is another", async (t) => {
  const looks = new Looks();
  await looks.next();
  const [first, second] = [looks.times.look(), looks.times.look()];
  t.equal(first, second);
  t.equal(looks.looks, 2);
  const afresh = looks.next();
  looks.times.lookAfresh();
  await afresh;
  t.equal(looks.looks, 3);
  looks.times.close();
  await looks.times.look();
  t.equal(looks.looks, 3, "closed, it does not look");
});
