/** `unsubscribe {id}`: ends the subscription of that id; `unsubscribed` is its last message. */
import type { HandleMessage } from "../contract.js";

export const unsubscribe: HandleMessage = (connection, { id, format }) => {
  const request = connection.find(id);
  if (request === null) {
    connection.fail(id, "not_found", "There is no subscription with this id.", "", format);
    return;
  }
  request.cancel();
  connection.say(`{"type":"unsubscribed","id":${id}}`, format);
};
