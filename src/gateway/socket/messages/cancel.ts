/** `cancel {id}`: ends the request of that id, which then answers with the error `cancelled`. */
import type { HandleMessage } from "../contract.js";

export const cancel: HandleMessage = (connection, { id, format }) => {
  const request = connection.find(id);
  if (request === null) {
    connection.fail(id, "not_found", "No request with this id is running.", "", format);
    return;
  }
  request.cancel();
  connection.fail(id, "cancelled", "The request was cancelled.", "", format);
};
