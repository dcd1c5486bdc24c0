/**
 * Who may write the records of a tenant's files now. The jobs that read files write side by side: each has files of its
 * own. A request that changes the records of a whole collection writes alone: otherwise the jobs' commits would come
 * between, and its transaction would lose each time. Turns are given in the order in which they are asked for.
 */
import type { Partition } from "../../actor/partition.js";
import type { Request } from "../../actor/request.js";

interface Waiting {
  readonly isAlone: boolean;
  readonly begin: () => void;
}

/** By partition, then by tenant; of tenants of which somebody writes. */
const turns = new WeakMap<Partition, Map<number, FileTurns>>();

/** Beside others that call this. */
export function besideOthers<T>(request: Request, work: () => Promise<T>): Promise<T> {
  return inTurn(request, false, work);
}

export function alone<T>(request: Request, work: () => Promise<T>): Promise<T> {
  return inTurn(request, true, work);
}

async function inTurn<T>({ partition, tenant }: Request, isAlone: boolean, work: () => Promise<T>): Promise<T> {
  const ofPartition = turns.get(partition) ?? new Map<number, FileTurns>();
  turns.set(partition, ofPartition);
  const ofTenant = ofPartition.get(tenant.number) ?? new FileTurns();
  ofPartition.set(tenant.number, ofTenant);
  await ofTenant.take(isAlone);
  try {
    return await work();
  } finally {
    ofTenant.giveBack();
    if (ofTenant.isFree) ofPartition.delete(tenant.number);
  }
}

export class FileTurns {
  private readonly waiting: Waiting[] = [];
  private running = 0;
  private isOneAlone = false;

  get isFree(): boolean {
    return this.running === 0;
  }

  /** Resolves when the caller may begin. */
  take(isAlone: boolean): Promise<void> {
    return new Promise((begin) => {
      this.waiting.push({ isAlone, begin });
      this.next();
    });
  }

  giveBack(): void {
    this.running--;
    this.isOneAlone = false;
    this.next();
  }

  private next(): void {
    for (let [first] = this.waiting; first !== undefined; [first] = this.waiting) {
      if (this.isOneAlone || (first.isAlone && this.running > 0)) return;
      this.waiting.shift();
      this.running++;
      this.isOneAlone = first.isAlone;
      first.begin();
    }
  }
}
