/** One run of copies in virtual time: faults that follow from the seed, and then quiet until all is as it shall be. */
import { SeededRandom } from "../seeded-random.js";
import { VirtualLoop } from "../virtual-loop.js";
import { type CopyNode, type CopySabotage, SimulatedCopies } from "./simulated-copies.js";

export interface CopiesOutcome {
  readonly problems: readonly string[];
  readonly faults: readonly string[];
  readonly acknowledged: number;
  readonly openings: number;
  readonly drops: number;
  readonly fetches: number;
  readonly trace: number;
}

const FAULTS_MS = 150_000;
const PAUSE_MS = 5000;
const SETTLE_MS = 180_000;
const SOUND_LINK = { requestsLost: false, answersLost: false, delayMsMax: 3 };

type Fault = (world: SimulatedCopies, node: CopyNode, random: SeededRandom) => void;

const FAULTS: Readonly<Record<string, Fault>> = {
  "a node is killed": (world, node, random) => {
    node.kill();
    world.loop.after(random.next() * 20_000, () => {
      if (!node.isUp) node.start();
    });
  },
  "a node cannot reach the log": (world, node, random) => onLink(world, node, random, { requestsLost: true }),
  "a node hears no answers of the log": (world, node, random) => onLink(world, node, random, { answersLost: true }),
  "the network is slow": (world, node, random) => onLink(world, node, random, { delayMsMax: 900 }),
  "another node is wished for": ({ truth, acknowledged, nodes }, _node, random) => {
    truth.wants.set(random.between(0, acknowledged.length - 1), random.pick(nodes).name);
  },
  "nobody is wished for": ({ truth }) => truth.wants.clear(),
  "etcd is filling": ({ truth, loop }, _node, random) => {
    truth.isFilling = true;
    loop.after(random.next() * 20_000, () => {
      truth.isFilling = false;
    });
  },
};
const WISH = "another node is wished for";
/** In some runs a partition goes to and fro all the time, besides: copies come and go. */
const RESTLESS = 0.6;
const RESTLESS_PAUSE_MS = 5000;
const NAMES = [...Object.keys(FAULTS), WISH, WISH, "etcd is filling"];

function onLink(
  { loop }: SimulatedCopies,
  { link }: CopyNode,
  random: SeededRandom,
  fault: Partial<typeof SOUND_LINK>,
): void {
  Object.assign(link, fault);
  loop.after(random.next() * 12_000, () => Object.assign(link, SOUND_LINK));
}

async function wishToAndFro(
  { loop, truth, nodes, acknowledged }: SimulatedCopies,
  random: SeededRandom,
): Promise<void> {
  const [partition, first] = [random.between(0, acknowledged.length - 1), random.between(0, nodes.length - 1)];
  for (let turn = first; loop.now < FAULTS_MS; turn++) {
    truth.wants.set(partition, nodes[turn % 2 === 0 ? first : (first + 1) % nodes.length]!.name);
    await loop.sleep(random.next() * RESTLESS_PAUSE_MS * 2);
  }
}

export async function simulateCopies(seed: number, sabotage: CopySabotage | null = null): Promise<CopiesOutcome> {
  const random = new SeededRandom(seed);
  const loop = new VirtualLoop(seed, random.fork());
  loop.install();
  loop.replace(performance as never, "now", () => loop.now);
  const world = new SimulatedCopies(loop, random.fork(), sabotage);
  const faults: string[] = [];
  let isOver = false;
  let failure: unknown = null;
  const story = async (): Promise<void> => {
    const plan = random.fork();
    for (const node of world.nodes) node.start();
    await loop.sleep(10_000);
    if (plan.chance(RESTLESS)) void wishToAndFro(world, plan.fork());
    for (;;) {
      await loop.sleep(plan.next() * PAUSE_MS * 2);
      if (loop.now > FAULTS_MS || world.problems.length > 0) break;
      const [name, node] = [plan.pick(NAMES), plan.pick(world.nodes)];
      faults.push(`${loop.now.toFixed(0)} ms: ${name} (${node.name})`);
      FAULTS[name]!(world, node, plan);
    }
    if (world.problems.length > 0) return;
    world.truth.isFilling = false;
    for (const node of world.nodes) {
      Object.assign(node.link, SOUND_LINK);
      if (!node.isUp) node.start();
    }
    for (const end = loop.now + SETTLE_MS; world.unsettled.length > 0 && loop.now < end; ) await loop.sleep(500);
    world.problems.push(...world.unsettled);
  };
  try {
    loop.soon(() => {
      story().then(
        () => {
          isOver = true;
        },
        (error) => {
          failure = error;
        },
      );
    });
    await loop.run(() => isOver || failure !== null, 2 * (FAULTS_MS + SETTLE_MS));
  } finally {
    loop.uninstall();
  }
  if (failure !== null) throw failure;
  const { problems, openings, drops, fetches } = world;
  const acknowledged = world.acknowledged.reduce((a, b) => a + b, 0);
  return { problems, faults, acknowledged, openings, drops, fetches, trace: loop.trace };
}
