/**
 * Tells that keys of etcd have changed, so that nobody has to ask all the time. It is a hint and no more: one may be
 * late or missing, and whoever is told reads what has changed by itself, linearizably. Owned by cluster-map.ts.
 */
import type { WatchResponse } from "./etcd_pb.js";
import type { WatchStream } from "./etcd-client.js";
import { endOf } from "./etcd-log-service.js";

const OPEN_AGAIN_MS = 1000;

export class EtcdWatch {
  private stream: WatchStream | null = null;
  /** Of the keys, those that etcd has said it watches. */
  private watched = 0;
  private timer: NodeJS.Timeout | null = null;
  private isClosed = false;

  /** What is below `keys` is watched. `told` is called for changes, and when some may have been missed. */
  constructor(
    private readonly openStream: () => WatchStream,
    private readonly keys: readonly Buffer[],
    private readonly told: () => void,
  ) {
    this.open();
  }

  /** As far as is known here, changes are told within moments. */
  get isLive(): boolean {
    return this.watched === this.keys.length;
  }

  close(): void {
    this.isClosed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    this.stream?.cancel();
  }

  private open(): void {
    const stream = this.openStream();
    this.stream = stream;
    stream.on("data", (answer) => this.heard(stream, answer));
    stream.on("error", () => this.ended(stream));
    stream.on("end", () => this.ended(stream));
    for (const key of this.keys)
      stream.write({ requestUnion: { case: "createRequest", value: { key, rangeEnd: endOf(key) } } });
  }

  private heard(stream: WatchStream, { created, canceled }: WatchResponse): void {
    if (stream !== this.stream) return;
    if (canceled) {
      stream.cancel();
      return;
    }
    if (created) this.watched++;
    if (this.isLive) this.told();
  }

  private ended(stream: WatchStream): void {
    if (stream !== this.stream) return;
    this.stream = null;
    this.watched = 0;
    if (!this.isClosed) this.timer = setTimeout(() => this.open(), OPEN_AGAIN_MS);
  }
}
