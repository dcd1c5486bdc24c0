/**
 * `credit {id, messages}`: the client can take that many further `sql.rows` of a request that began with `credits`.
 */
import { unpack } from "msgpackr";
import type { HandleMessage } from "../contract.js";

export const credit: HandleMessage = (connection, { id, format, isPacked }, bytes) => {
  let messages: unknown;
  try {
    messages = ((isPacked ? unpack(bytes) : JSON.parse(bytes.toString("utf8"))) as { messages?: unknown }).messages;
  } catch {
    connection.fail(id, "invalid_json", "The message is not a JSON object.", "", format);
    return;
  }
  if (typeof messages !== "number" || !Number.isSafeInteger(messages) || messages < 1) {
    const details = '{"field":"messages"}';
    connection.fail(id, "invalid_request", 'The field "messages" must be a whole number from 1.', details, format);
    return;
  }
  // A request that has ended needs none.
  connection.find(id)?.credit(messages);
};
