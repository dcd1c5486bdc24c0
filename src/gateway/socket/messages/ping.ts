/** `ping`: answered by the gateway, at once. */
import type { HandleMessage } from "../contract.js";

export const ping: HandleMessage = (connection, { id }) => {
  const timestamp = new Date(connection.services.clock.wall()).toISOString();
  connection.send(`{"type":"pong",${id === "null" ? "" : `"id":${id},`}"timestamp":"${timestamp}"}`);
};
