/** The letters of messages, of both directions. Some letters mean one thing from a client and another from a server. */

const letter = (text: string): number => text.charCodeAt(0);

/** From clients. */
export const FRONT = {
  bind: letter("B"),
  close: letter("C"),
  copyData: letter("d"),
  copyDone: letter("c"),
  copyFail: letter("f"),
  describe: letter("D"),
  execute: letter("E"),
  flush: letter("H"),
  functionCall: letter("F"),
  parse: letter("P"),
  /** Also SASLInitialResponse and SASLResponse. */
  password: letter("p"),
  query: letter("Q"),
  sync: letter("S"),
  terminate: letter("X"),
} as const;

/** ReadyForQuery follows these, also where they fail. */
export const BRINGS_READY: ReadonlySet<number> = new Set([FRONT.query, FRONT.functionCall, FRONT.sync]);

/** From the server. */
export const BACK = {
  authentication: letter("R"),
  backendKeyData: letter("K"),
  bindComplete: letter("2"),
  closeComplete: letter("3"),
  commandComplete: letter("C"),
  copyData: letter("d"),
  copyDone: letter("c"),
  copyInResponse: letter("G"),
  copyOutResponse: letter("H"),
  dataRow: letter("D"),
  emptyQueryResponse: letter("I"),
  errorResponse: letter("E"),
  functionCallResponse: letter("V"),
  negotiateProtocolVersion: letter("v"),
  noData: letter("n"),
  noticeResponse: letter("N"),
  notificationResponse: letter("A"),
  parameterDescription: letter("t"),
  parameterStatus: letter("S"),
  parseComplete: letter("1"),
  portalSuspended: letter("s"),
  readyForQuery: letter("Z"),
  rowDescription: letter("T"),
} as const;

/** Of ReadyForQuery: outside a transaction, in one, in one that has failed. */
export const STATUS = { idle: letter("I"), active: letter("T"), failed: letter("E") } as const;

/** Requests in the place of a start-up message, as its version. */
export const REQUEST = { cancel: 80_877_102, ssl: 80_877_103, gssEncryption: 80_877_104 } as const;

export const AUTHENTICATION = {
  ok: 0,
  cleartextPassword: 3,
  sasl: 10,
  saslContinue: 11,
  saslFinal: 12,
} as const;
