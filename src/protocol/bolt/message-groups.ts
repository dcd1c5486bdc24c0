/** Messages one after another, each after its length in four bytes, and a tag in the second byte of each. */

export function countIn(messages: Uint8Array, tag: number): number {
  let count = 0;
  for (let at = 0; at < messages.length; at = endOf(messages, at)) if (messages[at + 5] === tag) count++;
  return count;
}

/** Of the message whose length is at that place. */
export function endOf(messages: Uint8Array, at: number): number {
  const low = messages[at]! | (messages[at + 1]! << 8) | (messages[at + 2]! << 16);
  return at + 4 + low + messages[at + 3]! * 0x1000000;
}
