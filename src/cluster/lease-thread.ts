/**
 * The thread that keeps this node's lease, and does nothing else: gateways and actors may stall for seconds. Started by
 * cluster-node.ts by way of workers/lease.ts; ends when its process does.
 */
import { randomUUID } from "node:crypto";
import type { PlaceInEtcd } from "../protocol/messages.js";
import { EtcdLogService } from "./etcd-log-service.js";
import { Lease, TTL_MS } from "./lease.js";
import { LeaseMemory, SYSTEM_CLOCK } from "./lease-memory.js";

export interface LeaseThreadSettings extends PlaceInEtcd {
  readonly address: string;
  /** Empty: the node does not speak Bolt. */
  readonly bolt: string;
  readonly memory: SharedArrayBuffer;
}

const RENEW_MS = TTL_MS / 5;
/** A call that takes longer is of no use: the next renewal asks what became of it. */
const DEADLINE_MS = 2 * RENEW_MS;

/** Renews for ever. */
export async function keepLease(settings: LeaseThreadSettings): Promise<never> {
  const { endpoints, tls, name, node, address, bolt, memory } = settings;
  const shared = new LeaseMemory(memory);
  const lease = new Lease({
    service: new EtcdLogService({ endpoints, tls, installation: name, deadlineMs: DEADLINE_MS }),
    ...{ node, address, bolt },
    clock: SYSTEM_CLOCK,
    newIncarnation: randomUUID,
    actors: () => shared.actors,
    onLost: () => shared.lost(),
    onRenewed: (believed) => shared.renewed(believed),
  });
  for (;;) {
    const began = performance.now();
    const wasMember = lease.isMember;
    const said = shared.actorsSaid;
    await lease.renew();
    // Nothing is believed before the first renewal of a life.
    if (lease.isMember && !wasMember) continue;
    // Others are told at once of an actor that has become ready, or has ended.
    await shared.saidMore(said, Math.max(0, RENEW_MS - (performance.now() - began)));
  }
}
