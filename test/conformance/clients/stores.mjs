/** Packages that keep things in a table of their own, and one that listens: connect-pg-simple, Keyv, pg-listen. */
import KeyvPostgres from "@keyv/postgres";
import connect from "connect-pg-simple";
import session from "express-session";
import Keyv from "keyv";
import createSubscriber from "pg-listen";
import { equal, step } from "./steps.mjs";

const connectionString = process.env.DATABASE_URL;
await step("connect-pg-simple: sessions", async () => {
  const store = new (connect(session))({ conString: connectionString, createTableIfMissing: true });
  const call = (method, ...given) =>
    new Promise((resolve, reject) => {
      store[method](...given, (error, value) => (error ? reject(error) : resolve(value)));
    });
  await call("set", "one", { cookie: { maxAge: 10_000 }, a: 1 });
  await call("touch", "one", { cookie: { maxAge: 20_000 }, a: 1 });
  await call("set", "one", { cookie: { maxAge: 10_000 }, a: 2 });
  equal((await call("get", "one")).a, 2);
  await call("pruneSessions");
  await call("destroy", "one");
  equal(await call("get", "one"), undefined);
  await store.close();
});
await step("keyv", async () => {
  const keyv = new Keyv({ store: new KeyvPostgres({ uri: connectionString }), namespace: "own" });
  await keyv.set("text", "bar");
  await keyv.set("object", { a: 1 }, 10_000);
  equal(await keyv.get(["text", "object"]), ["bar", { a: 1 }]);
  equal(await keyv.has("text"), true);
  equal(await keyv.delete("text"), true);
  await keyv.clear();
  equal(await keyv.has("object"), false);
  await keyv.disconnect();
});
await step("pg-listen", async () => {
  const subscriber = (createSubscriber.default ?? createSubscriber)({ connectionString });
  const received = new Promise((resolve, reject) => {
    subscriber.notifications.on("my-channel", resolve);
    subscriber.events.on("error", reject);
  });
  await subscriber.connect();
  await subscriber.listenTo("my-channel");
  await subscriber.notify("my-channel", { greeting: 'Hey, "buddy".' });
  equal(await received, { greeting: 'Hey, "buddy".' });
  await subscriber.unlistenAll();
  await subscriber.close();
});
