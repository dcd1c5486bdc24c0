/** The client for Node.js. */
import assert from "node:assert/strict";
import { connect } from "tessera-client";

const db = connect({ url: process.env.TESSERA_URL, apiKey: process.env.TESSERA_KEY });
const old = await db.sql`SELECT title FROM trips WHERE year < ${1900}`;
assert.deepEqual([...old], [{ title: "Lighthouse" }]);
const [found] = await db.collection("trips").search({ query: "when does the boat leave", limit: 1 });
assert.equal(found.title, "Ferry");
const chat = await db.chat.begin({ collections: ["trips"] });
const answer = await db.chat.send({ content: "When does the bakery open?", session: chat });
assert.match(answer.content, /opens at six/);
