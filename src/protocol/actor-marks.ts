/**
 * Marks that an actor's thread leaves in shared memory while it works. From them the gateway's thread can tell whether
 * the actor still gives way, whose request it works on if it does not, and, after it was ended, which requests had
 * committed. The actor writes (ActorMarks) and the gateway reads (MarksReader); neither waits for the other. Numbers
 * are 32 bits wide and written whole. They are read while the writer is stuck in one piece of work, or has ended.
 *
 * Commits are counted by epochs: each write of the log ends one. A commit of an epoch whose write never began left
 * nothing.
 */

const BEAT = 0;
const KIND = 1;
const REQUEST = 2;
const TENANT = 3;
const OPERATOR = 4;
const EPOCH = 5;
/** The last epoch whose write of the log has begun, and has ended. */
const FLUSHING = 6;
const FLUSHED = 7;
/** The epoch of the directory's last commit. */
const DIRECTORY = 8;
const TEXT_BYTES = 9;
const IS_CYPHER = 10;
/** The operating system's number of the thread; 0: unknown. */
const THREAD = 11;
const HEADER = 16;

/** A slot for each of this many consecutive request ids: more than may be in flight. */
const PLACES = 16_384;
/**
 * Of a place: the id, the epoch in which the request began, that of its first commit, and whether that was all of it.
 */
const PLACE = 4;

/** Characters of a statement that are kept. */
const TEXT_CHARACTERS_MAX = 8_192;
const TEXT_AT = (HEADER + PLACES * PLACE) * Int32Array.BYTES_PER_ELEMENT;
const BYTES = TEXT_AT + TEXT_CHARACTERS_MAX * 3;

const NOBODY = 0;
const A_REQUEST = 1;
const THE_BACKGROUND = 2;

export function newActorMarks(): SharedArrayBuffer {
  return new SharedArrayBuffer(BYTES);
}

/** The beginning of a statement, as the marks keep it. */
export function keptText(text: string): string {
  return text.length > TEXT_CHARACTERS_MAX ? text.slice(0, TEXT_CHARACTERS_MAX) : text;
}

/**
 * The writer's side, on the actor's thread. All of it is a few stores, but for a statement that is another than the
 * last one.
 */
export class ActorMarks {
  private readonly numbers: Int32Array;
  private readonly text: Buffer;
  /** The text and its number of bytes. */
  private written = "";
  private writtenBytes = 0;

  /** @param thread see os-thread.ts. */
  constructor(memory: SharedArrayBuffer, thread = 0) {
    this.numbers = new Int32Array(memory, 0, TEXT_AT / Int32Array.BYTES_PER_ELEMENT);
    this.text = Buffer.from(memory, TEXT_AT);
    this.numbers[EPOCH] = 1;
    this.numbers[THREAD] = thread;
  }

  /** Where the operator at work is marked: its number in the table of names that the actor announced. */
  get operator(): Int32Array {
    return this.numbers.subarray(OPERATOR, OPERATOR + 1);
  }

  /** Of the request at work. */
  get operatorNow(): number {
    return this.numbers[OPERATOR]!;
  }

  set operatorNow(operator: number) {
    this.numbers[OPERATOR] = operator;
  }

  /** The loop of the thread has come round; nobody is at work. */
  beat(): void {
    this.nobody();
    Atomics.add(this.numbers, BEAT, 1);
  }

  nobody(): void {
    this.numbers[KIND] = NOBODY;
  }

  /** It is the request's turn for the first time. */
  began(id: number, tenant: number): void {
    const { numbers } = this;
    const place = placeOf(id);
    numbers[place] = id;
    numbers[place + 1] = numbers[EPOCH]!;
    numbers[place + 2] = 0;
    this.enter(id, tenant, "");
  }

  /** The request goes on, at that statement of its; `id` 0: the actor's own work for the tenant. */
  atWork(id: number, tenant: number, statement: string): void {
    const { numbers } = this;
    if (numbers[REQUEST] !== (id | 0) || numbers[KIND] === NOBODY || numbers[TENANT] !== tenant) {
      this.enter(id, tenant, statement);
    }
  }

  private enter(id: number, tenant: number, statement: string): void {
    const { numbers } = this;
    numbers[REQUEST] = id;
    numbers[TENANT] = tenant;
    numbers[OPERATOR] = 0;
    numbers[KIND] = id === 0 ? THE_BACKGROUND : A_REQUEST;
    this.statement(statement);
  }

  /** Of the request at work; "": none. */
  statement(text: string): void {
    const { numbers } = this;
    numbers[IS_CYPHER] = 0;
    if (text === "") {
      numbers[TEXT_BYTES] = 0;
      return;
    }
    if (text !== this.written) {
      this.writtenBytes = this.text.write(keptText(text), "utf8");
      this.written = text;
    }
    numbers[TEXT_BYTES] = this.writtenBytes;
  }

  statementIsCypher(): void {
    this.numbers[IS_CYPHER] = 1;
  }

  /** The request has committed; `whole`: all that it will commit. */
  committed(id: number, whole: boolean): void {
    const { numbers } = this;
    const place = placeOf(id);
    if (numbers[place] !== (id | 0)) return;
    // Of several commits the first one decides: once that is in the log, the request cannot be run again.
    const isFirst = numbers[place + 2] === 0;
    if (isFirst) numbers[place + 2] = numbers[EPOCH]!;
    numbers[place + 3] = whole && (isFirst || numbers[place + 2] === numbers[EPOCH]) ? 1 : 0;
  }

  /** The request's answer has been committed behind its changes: if they are in one write, it can be asked again. */
  answerKept(id: number): void {
    const { numbers } = this;
    const place = placeOf(id);
    if (numbers[place] === (id | 0) && numbers[place + 2] === numbers[EPOCH]) numbers[place + 2] = 0;
  }

  directoryCommits(): void {
    this.numbers[DIRECTORY] = this.numbers[EPOCH]!;
  }

  /** What has been committed is about to go to the log, which has it when `flushed` is called. */
  flushing(): void {
    const { numbers } = this;
    numbers[FLUSHING] = numbers[EPOCH]!;
    numbers[EPOCH] = numbers[EPOCH]! + 1;
  }

  flushed(): void {
    this.numbers[FLUSHED] = this.numbers[FLUSHING]!;
  }
}

/** The request at work. */
export interface AtWork {
  /** The request's id in frames; null: work of the actor's own. */
  readonly request: number | null;
  /** The tenant's number. */
  readonly tenant: number;
  /** The beginning of the statement; "": none was begun. */
  readonly statement: string;
  readonly language: "sql" | "cypher";
  /** Number of the operator that was seen last; 0: none was. */
  readonly operator: number;
}

/**
 * How far a request of an actor that was ended had come. `maybe`: whether its changes are in the log cannot be told.
 */
export type Fate = "waiting" | "begun" | "committed" | "maybe";

/** The reader's side. */
export class MarksReader {
  private readonly numbers: Int32Array;
  private readonly text: Buffer;

  constructor(memory: SharedArrayBuffer) {
    this.numbers = new Int32Array(memory, 0, TEXT_AT / Int32Array.BYTES_PER_ELEMENT);
    this.text = Buffer.from(memory, TEXT_AT);
  }

  /** How often the loop has come round; 0: it does not run yet. */
  get beats(): number {
    return Atomics.load(this.numbers, BEAT);
  }

  /** 0: unknown. */
  get thread(): number {
    return this.numbers[THREAD]!;
  }

  /** The log is being written: what stands still is the disk. */
  get isFlushing(): boolean {
    return this.numbers[FLUSHING] !== this.numbers[FLUSHED];
  }

  /** Null: nobody has said so. */
  get atWork(): AtWork | null {
    const { numbers } = this;
    const kind = numbers[KIND]!;
    if (kind === NOBODY) return null;
    return {
      request: kind === A_REQUEST ? numbers[REQUEST]! >>> 0 : null,
      tenant: numbers[TENANT]! >>> 0,
      statement: this.text.toString("utf8", 0, numbers[TEXT_BYTES]!),
      language: numbers[IS_CYPHER] === 1 ? "cypher" : "sql",
      operator: numbers[OPERATOR]!,
    };
  }

  /** Of a request that was sent and not answered. `ofDirectory`: it commits as the directory does, by itself. */
  fateOf(id: number, ofDirectory: boolean): Fate {
    const { numbers } = this;
    const place = placeOf(id);
    if (numbers[place] !== (id | 0)) {
      // A later request has its place: then it had begun long ago.
      const isPassed = numbers[place] !== 0 && ((id - numbers[place]!) | 0) < 0;
      return isPassed ? "maybe" : "waiting";
    }
    const began = numbers[place + 1]!;
    const committed = numbers[place + 2]!;
    if (ofDirectory && numbers[DIRECTORY]! >= began && numbers[DIRECTORY]! <= numbers[FLUSHING]!) return "maybe";
    if (committed === 0 || committed > numbers[FLUSHING]!) return "begun";
    return committed <= numbers[FLUSHED]! && numbers[place + 3] === 1 ? "committed" : "maybe";
  }
}

function placeOf(id: number): number {
  return HEADER + (id & (PLACES - 1)) * PLACE;
}
