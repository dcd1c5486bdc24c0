/**
 * One run of many nodes in virtual time: all start, some fail at once, these come back, and then the actors of as many
 * crash and take long to start.
 */
import { SeededRandom } from "../seeded-random.js";
import { VirtualLoop } from "../virtual-loop.js";
import { ControlPlane, type ControlSabotage } from "./control-plane.js";

/** Of an actor, on a machine that is busy. */
const SLOW_START_MS = 15_000;

export interface ControlPlaneOptions {
  readonly seed: number;
  readonly nodes: number;
  readonly partitions: number;
  /** That are killed at once. */
  readonly failing: number;
  readonly sabotage?: ControlSabotage;
}

/** Virtual milliseconds. */
interface Phase {
  /** Until all partitions are served. */
  readonly servedMs: number;
  /** Until no node has more than its share, too. */
  readonly evenMs: number;
  /** Of partitions, in that time. */
  readonly openings: number;
}

export interface ControlPlaneOutcome {
  readonly start: Phase;
  readonly failure: Phase;
  readonly comeback: Phase;
  readonly slowStarts: Phase;
  /** Of actors. */
  readonly restarts: number;
  readonly problems: readonly string[];
}

export async function simulateControlPlane(options: ControlPlaneOptions): Promise<ControlPlaneOutcome> {
  const { seed, nodes, partitions, failing, sabotage = null } = options;
  const random = new SeededRandom(seed);
  const loop = new VirtualLoop(seed, random.fork());
  loop.install();
  // What a turn costs is not simulated: all nodes share this one thread.
  loop.replace(performance as never, "now", () => loop.now);
  const plane = new ControlPlane(loop, random.fork(), partitions, nodes, sabotage);
  let outcome: ControlPlaneOutcome | null = null;
  let failure: unknown = null;
  const story = async (): Promise<ControlPlaneOutcome> => {
    const phase = async (begin: () => void): Promise<Phase> => {
      const before = plane.openings;
      begin();
      const times = await plane.settled();
      return { ...times, openings: plane.openings - before };
    };
    const start = await phase(() => {
      for (const node of plane.nodes) node.start();
    });
    const victims = plane.nodes.slice(0, failing);
    const ended = await phase(() => {
      for (const node of victims) node.kill();
    });
    const comeback = await phase(() => {
      for (const node of victims) node.start();
    });
    // Others must take what these owned, and nobody gives them anything before they are ready.
    const slowStarts = await phase(() => {
      for (const node of plane.nodes.slice(failing, 2 * failing)) node.crashActor(SLOW_START_MS);
    });
    const { restarts, problems } = plane;
    return { start, failure: ended, comeback, slowStarts, restarts, problems };
  };
  try {
    loop.soon(() => {
      story().then(
        (found) => {
          outcome = found;
        },
        (error) => {
          failure = error;
        },
      );
    });
    await loop.run(() => outcome !== null || failure !== null, 600_000);
  } finally {
    loop.uninstall();
  }
  if (outcome === null) throw failure;
  return outcome;
}
