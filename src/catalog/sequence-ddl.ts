/** Definitions of sequences that number a column. */
import type { SqlType } from "../values/values.js";
import { quotedIdentifier } from "./relation-names.js";
import { restartOf, type SequenceDef, type SequenceOptions, sequenceShape } from "./sequence.js";

/** A sequence of its own for a column of that type. Throws 22023 for options that do not fit together. */
export function sequenceDef(
  id: number,
  schema: string,
  name: string,
  type: SqlType,
  options: SequenceOptions,
  ownedBy: SequenceDef["ownedBy"],
  nowMicros: number,
): SequenceDef {
  const shape = sequenceShape(options, null, type);
  const { follows } = options;
  return Object.freeze({
    id,
    schema,
    name,
    ...shape,
    ...(follows && { follows }),
    ownedBy,
    from: null,
    createdAt: nowMicros,
  });
}

/** The default of a column that the sequence numbers. */
export function ownedSequence(sequence: SequenceDef): string {
  const quoted = `${quotedIdentifier(sequence.schema)}.${quotedIdentifier(sequence.name)}`;
  return `nextval('${quoted.replaceAll("'", "''")}')`;
}

/** The sequence from its start on: its state belongs to a definition of one moment. */
export function restarted(sequence: SequenceDef, nowMicros: number): SequenceDef {
  return Object.freeze({ ...sequence, from: null, createdAt: later(sequence, nowMicros) });
}

/** An identity column's sequence with other options; it goes on where it was unless RESTART is among them. */
export function changed(sequence: SequenceDef, options: SequenceOptions, nowMicros: number): SequenceDef {
  const next: SequenceDef = { ...sequence, ...sequenceShape(options, sequence) };
  if (options.restart === null) return Object.freeze(next);
  const from = restartOf(next, options, { last: next.start, called: false });
  return Object.freeze({ ...next, from, createdAt: later(sequence, nowMicros) });
}

function later(sequence: SequenceDef, nowMicros: number): number {
  return Math.max(nowMicros, sequence.createdAt + 1);
}
