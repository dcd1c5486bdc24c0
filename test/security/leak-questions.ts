/** Of leak-hunt.test.ts: questions in plain language, whose rules read names and values. */
import { type Cases, post } from "./leak-ask.js";
import { SECRET } from "./leak-tenants.js";

const ask = (question: string, rest: object = {}) => post("/v1/nl2sql/query", { question, method: "rules", ...rest });

export const QUESTION_CASES: Cases = {
  "nl2sql.query": [
    ask("how many boards are there?"),
    ask("show the board with the note common word"),
    ask("list the notes of the board"),
    ask(`which board has the note ${SECRET}?`),
    ask("how many boards have the owner other?"),
    ask("list the names of the staff"),
    ask("what is the highest pay of the staff?"),
    ask("list the vault"),
    ask("how many vaults are there?", { tables: ["vault"] }),
    ask("list the staff", { tables: ["staff"] }),
    ask("list the chats", { tables: ["_chat_messages"] }),
    ask("list it", { tables: ["none"] }),
  ],
  "nl2sql.validate": [
    "SELECT * FROM board",
    "SELECT pay FROM staff",
    "SELECT * FROM vault",
    "SELECT nme FROM staff",
  ].map((sql) => post("/v1/nl2sql/validate", { sql })),
};
