/**
 * Keeps a log service within its bounds: tells when writes must be refused because the service holds too much, and has
 * it give up the space of what was trimmed. Whoever owns partitions calls `look` every second or so.
 */
import { DbError } from "../protocol/errors.js";
import type { LogService, LogUsage } from "./log-service.js";

export interface CellRoomOptions {
  readonly service: Pick<LogService, "usage" | "makeRoom">;
  /** That the service may hold before writes are refused; well below its own quota. */
  readonly bytesMax?: number;
}

const BYTES_MAX = 1024 * 1024 * 1024;

export class CellRoom {
  /** Why no writes are taken at the moment; null: they are. */
  refusal: DbError | null = null;
  /** Half of what may be held is: what can be spared had better be trimmed. */
  isFilling = false;
  /** That the service held when it was last looked at. */
  bytes = 0;
  private readonly service: CellRoomOptions["service"];
  private readonly bytesMax: number;
  /** At the beginning nobody knows what others have trimmed. */
  private hasTrimmed = true;

  constructor({ service, bytesMax = BYTES_MAX }: CellRoomOptions) {
    this.service = service;
    this.bytesMax = bytesMax;
  }

  /** Something was trimmed: its space can be had. */
  trimmed(): void {
    this.hasTrimmed = true;
  }

  /** Rejects with `log_unavailable` when the service does not answer; the refusal stays as it was then. */
  async look(): Promise<void> {
    let usage = await this.service.usage();
    if (this.hasTrimmed) {
      await this.service.makeRoom();
      this.hasTrimmed = false;
      usage = await this.service.usage();
    }
    const { bytes } = usage;
    this.bytes = bytes;
    this.isFilling = isFillingAt(usage, this.bytesMax);
    if (usage.isFull) this.refusal = refusal("the log service has no room (etcd: alarm NOSPACE)");
    else if (bytes > this.bytesMax) {
      this.refusal = refusal(
        `it holds ${bytes} bytes that neither a second copy nor a checkpoint has, of at most ${this.bytesMax}`,
      );
    } else this.refusal = null;
  }
}

/** Half of what may be held is. */
export function isFillingAt({ bytes, isFull }: LogUsage, bytesMax = BYTES_MAX): boolean {
  return isFull || bytes > bytesMax / 2;
}

function refusal(why: string): DbError {
  return new DbError("log_unavailable", `The replicated log takes no writes until it is trimmed: ${why}.`);
}
