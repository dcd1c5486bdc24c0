/** Sequelize: sync (also with alter), associations, queries, transactions. */
import { DataTypes, Op, Sequelize } from "sequelize";
import { equal, fails, step } from "./steps.mjs";

const db = new Sequelize(process.env.DATABASE_URL, { logging: false });
const User = db.define(
  "User",
  {
    name: { type: DataTypes.STRING(80), allowNull: false, comment: "who" },
    kind: { type: DataTypes.ENUM("a", "b"), defaultValue: "a" },
    data: DataTypes.JSONB,
    tags: DataTypes.ARRAY(DataTypes.STRING),
    price: DataTypes.DECIMAL(8, 2),
    key: { type: DataTypes.UUID, defaultValue: DataTypes.UUIDV4 },
    bits: DataTypes.BLOB,
    day: DataTypes.DATEONLY,
    span: DataTypes.RANGE(DataTypes.INTEGER),
  },
  { indexes: [{ fields: ["name"], unique: true }, { fields: ["price"] }, { fields: ["data"], using: "gin" }] },
);
const Task = db.define("Task", { title: DataTypes.TEXT, done: { type: DataTypes.BOOLEAN, defaultValue: false } });
User.hasMany(Task, { onDelete: "CASCADE", foreignKey: { allowNull: false } });
Task.belongsTo(User);

await step("authenticate, sync", async () => {
  await db.authenticate();
  await db.sync({ force: true });
});
await step("create, include, where on JSON, arrays and ranges", async () => {
  const values = {
    name: "jane",
    data: { a: { b: 1 } },
    tags: ["x"],
    price: "1.50",
    bits: Buffer.from([0, 255]),
    day: "2024-02-29",
    span: [1, 5],
  };
  const user = await User.create({ ...values, Tasks: [{ title: "t" }, { title: "u" }] }, { include: Task });
  const found = await User.findOne({
    where: { data: { a: { b: 1 } }, tags: { [Op.contains]: ["x"] }, span: { [Op.contains]: 3 } },
    include: Task,
  });
  equal(
    [found.id, found.price, found.tags, found.day, found.Tasks.length, found.span[0].value],
    [user.id, "1.50", ["x"], "2024-02-29", 2, 1],
  );
  equal(await User.count({ where: { name: { [Op.iLike]: "JA%" }, kind: ["a", "b"] } }), 1);
  await User.bulkCreate(Array.from({ length: 100 }, (_, i) => ({ name: `n${i}`, price: i })));
  equal((await User.findAndCountAll({ limit: 5, order: [["price", "DESC NULLS LAST"]] })).count, 101);
  await User.upsert({ name: "jane", price: 9 });
  equal(await Task.sum("id"), 3);
});
await step("transactions: managed, with savepoint, errors", async () => {
  const error = await fails(
    db.transaction((transaction) => User.create({ name: "jane" }, { transaction })),
    "23505",
  );
  equal(error.name, "SequelizeUniqueConstraintError");
  equal(Object.keys(error.fields), ["name"]);
  await fails(Task.create({ title: "x", UserId: 9999 }), "23503");
  await db.transaction({ isolationLevel: "SERIALIZABLE" }, async (transaction) => {
    const user = await User.findOne({ where: { name: "jane" }, transaction, lock: true });
    await user.increment("price", { by: 2, transaction });
  });
  equal((await User.findOne({ where: { name: "jane" } })).price, "11.00");
});
await step("sync with alter", async () => {
  const columns = {
    title: DataTypes.STRING(300),
    done: DataTypes.BOOLEAN,
    more: { type: DataTypes.INTEGER, defaultValue: 5 },
  };
  db.define("Task", columns).belongsTo(User);
  await db.sync({ alter: true });
});
await step("query interface: tables, columns, indexes, foreign keys", async () => {
  const query = db.getQueryInterface();
  equal((await query.showAllTables()).sort(), ["Tasks", "Users"]);
  const users = await query.describeTable("Users");
  equal(
    [users.id.primaryKey, users.kind.special, users.name.type, users.name.comment],
    [true, ["a", "b"], "CHARACTER VARYING(80)", "who"],
  );
  equal(
    (await query.showIndex("Users", {})).some(({ name }) => name === "users_price"),
    true,
  );
  equal((await query.getForeignKeyReferencesForTable("Tasks"))[0].referencedTableName, "Users");
  await query.addColumn("Users", "extra", DataTypes.INTEGER);
  await query.renameColumn("Users", "extra", "other");
  await query.changeColumn("Users", "other", { type: DataTypes.BIGINT });
  await query.removeColumn("Users", "other");
  await db.drop({});
});
await db.close();
