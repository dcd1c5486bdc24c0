/**
 * The tables of a tenant's chat sessions and their messages, made with the first session. Routes show a session to the
 * user who made it; to others' statements the tables are closed (catalog/kept-tables.ts). Called by chat-store.ts.
 */

export const SESSIONS = `"_chat_sessions"`;
export const MESSAGES = `"_chat_messages"`;
/** As the catalog knows it. */
export const SESSIONS_NAME = "_chat_sessions";

export const CREATE_TABLES: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS ${SESSIONS} (
    id text PRIMARY KEY, user_id text NOT NULL, title text NOT NULL, model text, system_prompt text NOT NULL,
    collections jsonb NOT NULL, message_count bigint NOT NULL, input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL, created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL)`,
  `CREATE INDEX IF NOT EXISTS "_chat_sessions_user" ON ${SESSIONS} (user_id, updated_at)`,
  `CREATE TABLE IF NOT EXISTS ${MESSAGES} (
    session_id text NOT NULL, seq bigint NOT NULL, id text NOT NULL, role text NOT NULL, content text NOT NULL,
    created_at timestamptz NOT NULL, finish_reason text, input_tokens bigint, output_tokens bigint, citations jsonb,
    PRIMARY KEY (session_id, seq))`,
];
