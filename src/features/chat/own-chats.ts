/** tessera_chat_sessions and tessera_chat_messages: a user's own chats in SQL. */
import { INT8, JSONB, TEXT, TIMESTAMPTZ } from "../../values/values.js";
import { rowsOfUser } from "../statements/own-relation.js";

export const OWN_CHATS = [
  rowsOfUser("_chat_sessions", {
    id: TEXT,
    title: TEXT,
    model: TEXT,
    system_prompt: TEXT,
    collections: JSONB,
    message_count: INT8,
    input_tokens: INT8,
    output_tokens: INT8,
    created_at: TIMESTAMPTZ,
    updated_at: TIMESTAMPTZ,
  }),
  rowsOfUser(
    "_chat_messages",
    {
      session_id: TEXT,
      seq: INT8,
      id: TEXT,
      role: TEXT,
      content: TEXT,
      created_at: TIMESTAMPTZ,
      finish_reason: TEXT,
      input_tokens: INT8,
      output_tokens: INT8,
      citations: JSONB,
    },
    `public."_chat_messages" AS kept JOIN public."_chat_sessions" AS session ON session.id = kept.session_id
      WHERE session.user_id = $1::text`,
  ),
];
