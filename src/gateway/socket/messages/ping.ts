/** `ping`: answered by the gateway, at once. */
import type { HandleMessage } from "../contract.js";

export const ping: HandleMessage = (connection, { id, format }) => {
  const timestamp = new Date(connection.services.clock.wall()).toISOString();
  connection.say(`{"type":"pong",${id === "null" ? "" : `"id":${id},`}"timestamp":"${timestamp}"}`, format);
};
