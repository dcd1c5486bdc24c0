import java.math.BigDecimal;
import java.sql.*;
import java.time.*;
import java.util.*;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;
import org.postgresql.util.PSQLException;

/** JDBC: metadata, batches, fetch sizes, generated keys, COPY, both query modes. */
public class Jdbc {
  interface Action {
    void run() throws Exception;
  }

  static void step(String what, Action action) {
    try {
      action.run();
      System.out.println("ok - " + what);
    } catch (Throwable error) {
      System.out.println("not ok - " + what + " # " + error.toString().replaceAll("\\s+", " "));
    }
  }

  static void equal(Object actual, Object expected) {
    if (!Objects.equals(actual, expected)) throw new AssertionError(actual + " where " + expected + " was expected");
  }

  static Connection connect(String options) throws SQLException {
    Map<String, String> env = System.getenv();
    String url = "jdbc:postgresql://" + env.get("PGHOST") + ":" + env.get("PGPORT") + "/" + env.get("PGDATABASE");
    return DriverManager.getConnection(url + options, env.get("PGUSER"), env.get("PGPASSWORD"));
  }

  static List<String> names(ResultSet rows, String... columns) throws SQLException {
    List<String> found = new ArrayList<>();
    while (rows.next()) {
      List<String> row = new ArrayList<>();
      for (String column : columns) row.add(rows.getString(column));
      found.add(String.join(":", row));
    }
    return found;
  }

  static Connection db;

  public static void main(String[] arguments) throws Exception {
    db = connect("");
    step("create, insert, generated keys", Jdbc::create);
    step("values of 12 types, over and over (binary)", Jdbc::values);
    step("a transaction with a savepoint; SQLSTATE and fields of the error", Jdbc::transaction);
    step("batches, and reWriteBatchedInserts", Jdbc::batches);
    step("a cursor with a fetch size of 50", Jdbc::fetchSize);
    step("scrollable and updatable results", Jdbc::updatable);
    step("metadata: tables, columns, keys, indexes, types, functions", Jdbc::metadata);
    step("metadata of statements: parameters and columns", Jdbc::statementMetadata);
    step("CopyManager", Jdbc::copy);
    step("CallableStatement", Jdbc::call);
    step("preferQueryMode=simple", Jdbc::simple);
    step("cancel, query time-out, isValid", Jdbc::cancel);
    step("isolation, read only, schema, client info", Jdbc::session);
    db.close();
  }

  static void create() throws SQLException {
    try (Statement statement = db.createStatement()) {
      statement.execute("CREATE TYPE mood AS ENUM ('sad', 'happy')");
      statement.execute("CREATE TABLE things (id serial PRIMARY KEY, name varchar(40) UNIQUE, price numeric(8, 2), at timestamptz, "
          + "d date, t time, b bytea, l int[], u uuid, j jsonb, o boolean DEFAULT true, f float8, n bigint, m mood)");
      statement.execute("CREATE TABLE parts (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
          + "thing int NOT NULL REFERENCES things (id) ON DELETE CASCADE, what text)");
      statement.execute("COMMENT ON COLUMN things.name IS 'as printed'");
      statement.execute("CREATE VIEW names AS SELECT name FROM things");
      statement.execute("CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql AS 'SELECT n * 2'");
    }
    try (PreparedStatement insert = db.prepareStatement("INSERT INTO parts (thing) VALUES (?)", new String[] {"id"})) {
      db.createStatement().execute("INSERT INTO things (name) VALUES ('first')");
      insert.setInt(1, 1);
      equal(insert.executeUpdate(), 1);
      ResultSet keys = insert.getGeneratedKeys();
      keys.next();
      equal(keys.getLong(1), 1L);
    }
  }

  static void values() throws SQLException {
    UUID key = UUID.randomUUID();
    OffsetDateTime at = OffsetDateTime.of(2024, 2, 29, 1, 2, 3, 456000000, ZoneOffset.UTC);
    String sql = "INSERT INTO things (name, price, at, d, t, b, l, u, j, f, n, m) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?::jsonb, ?, ?, ?::mood)";
    try (PreparedStatement insert = db.prepareStatement(sql)) {
      for (int i = 0; i < 8; i += 1) {
        insert.setString(1, "é '" + i);
        insert.setBigDecimal(2, new BigDecimal("12.50"));
        insert.setObject(3, at);
        insert.setObject(4, LocalDate.of(2024, 2, 29));
        insert.setObject(5, LocalTime.of(1, 2, 3));
        insert.setBytes(6, new byte[] {0, -1});
        insert.setArray(7, db.createArrayOf("int4", new Integer[] {1, null, 3}));
        insert.setObject(8, key);
        insert.setString(9, "{\"a\": 1}");
        insert.setDouble(10, 1.5e300);
        insert.setLong(11, Long.MIN_VALUE);
        insert.setString(12, "happy");
        insert.executeUpdate();
      }
    }
    try (PreparedStatement select = db.prepareStatement("SELECT * FROM things WHERE name = ?")) {
      for (int i = 0; i < 8; i += 1) {
        select.setString(1, "é '" + i);
        ResultSet row = select.executeQuery();
        row.next();
        equal(row.getBigDecimal("price"), new BigDecimal("12.50"));
        equal(row.getObject("at", OffsetDateTime.class), at);
        equal(row.getObject("d", LocalDate.class), LocalDate.of(2024, 2, 29));
        equal(row.getObject("t", LocalTime.class), LocalTime.of(1, 2, 3));
        equal(Arrays.toString(row.getBytes("b")), "[0, -1]");
        equal(Arrays.toString((Object[]) row.getArray("l").getArray()), "[1, null, 3]");
        equal(row.getObject("u"), key);
        equal(row.getString("j"), "{\"a\": 1}");
        equal(row.getBoolean("o"), true);
        equal(row.getDouble("f"), 1.5e300);
        equal(row.getLong("n"), Long.MIN_VALUE);
        equal(row.getString("m"), "happy");
      }
    }
  }

  static void transaction() throws SQLException {
    db.setAutoCommit(false);
    Statement statement = db.createStatement();
    statement.execute("INSERT INTO things (name) VALUES ('kept')");
    Savepoint savepoint = db.setSavepoint();
    try {
      statement.execute("INSERT INTO things (name) VALUES ('kept')");
      throw new AssertionError("no error");
    } catch (PSQLException error) {
      equal(error.getSQLState(), "23505");
      equal(error.getServerErrorMessage().getConstraint(), "things_name_key");
      equal(error.getServerErrorMessage().getSchema(), "public");
      db.rollback(savepoint);
    }
    db.commit();
    db.setAutoCommit(true);
  }

  static void batches() throws SQLException {
    for (String option : new String[] {"", "?reWriteBatchedInserts=true"}) {
      try (Connection other = connect(option); PreparedStatement insert = other.prepareStatement("INSERT INTO parts (thing, what) VALUES (?, ?)")) {
        other.setAutoCommit(false);
        for (int i = 0; i < 500; i += 1) {
          insert.setInt(1, 1);
          insert.setString(2, "batch" + option + i);
          insert.addBatch();
        }
        equal(insert.executeBatch().length, 500);
        other.commit();
      }
    }
    ResultSet row = db.createStatement().executeQuery("SELECT count(*) FROM parts WHERE what LIKE 'batch%'");
    row.next();
    equal(row.getInt(1), 1000);
    try (PreparedStatement insert = db.prepareStatement("INSERT INTO parts (thing) VALUES (?)")) {
      for (int thing : new int[] {1, 99999, 1}) {
        insert.setInt(1, thing);
        insert.addBatch();
      }
      insert.executeBatch();
      throw new AssertionError("no error");
    } catch (BatchUpdateException error) {
      equal(error.getSQLState(), "23503");
    }
  }

  static void fetchSize() throws SQLException {
    db.setAutoCommit(false);
    for (int round = 0; round < 7; round += 1) {
      try (PreparedStatement select = db.prepareStatement("SELECT id, what FROM parts WHERE id > ? ORDER BY id")) {
        select.setFetchSize(50);
        select.setLong(1, 1);
        ResultSet rows = select.executeQuery();
        int count = 0;
        while (rows.next()) count += 1;
        equal(count, 1000);
      }
    }
    db.commit();
    db.setAutoCommit(true);
    try (Statement limited = db.createStatement()) {
      limited.setMaxRows(7);
      ResultSet rows = limited.executeQuery("SELECT * FROM parts");
      int count = 0;
      while (rows.next()) count += 1;
      equal(count, 7);
    }
  }

  static void updatable() throws SQLException {
    Statement statement = db.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE);
    ResultSet rows = statement.executeQuery("SELECT id, name FROM things WHERE name = 'first'");
    rows.absolute(1);
    rows.updateString("name", "changed");
    rows.updateRow();
    rows.moveToInsertRow();
    rows.updateInt("id", 500);
    rows.updateString("name", "inserted");
    rows.insertRow();
    ResultSet found = db.createStatement().executeQuery("SELECT string_agg(name, ',' ORDER BY id) FROM things WHERE id IN (1, 500)");
    found.next();
    equal(found.getString(1), "changed,inserted");
  }

  static void metadata() throws SQLException {
    DatabaseMetaData data = db.getMetaData();
    equal(names(data.getTables(null, "public", "%", new String[] {"TABLE", "VIEW"}), "TABLE_NAME", "TABLE_TYPE").toString(),
        "[parts:TABLE, things:TABLE, names:VIEW]");
    equal(names(data.getColumns(null, "public", "things", "%"), "COLUMN_NAME", "TYPE_NAME", "IS_NULLABLE").subList(0, 3).toString(),
        "[id:serial:NO, name:varchar:YES, price:numeric:YES]");
    ResultSet column = data.getColumns(null, "public", "things", "name");
    column.next();
    equal(column.getInt("COLUMN_SIZE") + " " + column.getString("REMARKS"), "40 as printed");
    equal(names(data.getPrimaryKeys(null, "public", "things"), "COLUMN_NAME", "PK_NAME").toString(), "[id:things_pkey]");
    equal(names(data.getImportedKeys(null, "public", "parts"), "PKTABLE_NAME", "FKCOLUMN_NAME", "DELETE_RULE").toString(), "[things:thing:0]");
    equal(names(data.getExportedKeys(null, "public", "things"), "FKTABLE_NAME").toString(), "[parts]");
    equal(names(data.getIndexInfo(null, "public", "things", false, true), "INDEX_NAME", "NON_UNIQUE").toString(),
        "[things_name_key:f, things_pkey:f]");
    equal(names(data.getSchemas(), "TABLE_SCHEM").contains("public"), true);
    equal(names(data.getCatalogs(), "TABLE_CAT").contains("jdbc"), true);
    equal(names(data.getFunctions(null, "public", "%"), "FUNCTION_NAME").toString(), "[twice]");
    equal(names(data.getFunctionColumns(null, "public", "twice", "%"), "COLUMN_NAME", "TYPE_NAME").toString(), "[returnValue:int4, n:int4]");
    equal(names(data.getProcedures(null, "public", "%"), "PROCEDURE_NAME").toString(), "[]");
    equal(names(data.getUDTs(null, "public", "things", null), "TYPE_NAME").toString(), "[things]");
    equal(names(data.getTypeInfo(), "TYPE_NAME").containsAll(List.of("int4", "text", "jsonb", "mood")), true);
    equal(names(data.getTablePrivileges(null, "public", "things"), "PRIVILEGE").contains("SELECT"), true);
    equal(names(data.getColumnPrivileges(null, "public", "things", "id"), "PRIVILEGE").contains("SELECT"), true);
    equal(names(data.getBestRowIdentifier(null, "public", "things", 0, true), "COLUMN_NAME").toString(), "[id]");
    equal(names(data.getTableTypes(), "TABLE_TYPE").contains("TABLE"), true);
    equal(names(data.getClientInfoProperties(), "NAME").contains("ApplicationName"), true);
    equal(data.getMaxColumnNameLength(), 63);
    equal(data.getDatabaseMajorVersion() >= 15, true);
    equal(data.getSQLKeywords().isEmpty(), false);
  }

  static void statementMetadata() throws SQLException {
    try (PreparedStatement select = db.prepareStatement("SELECT id, name AS called, price FROM things WHERE id = ? AND name = ?")) {
      equal(select.getParameterMetaData().getParameterTypeName(1) + " " + select.getParameterMetaData().getParameterTypeName(2), "int4 text");
      ResultSetMetaData columns = select.getMetaData();
      equal(columns.getColumnLabel(2) + " " + columns.getColumnTypeName(2) + " " + columns.getTableName(2), "called varchar things");
      equal(columns.isAutoIncrement(1) + " " + columns.isNullable(1), "true 0");
      equal(columns.getPrecision(3) + " " + columns.getScale(3), "8 2");
    }
  }

  static void copy() throws Exception {
    CopyManager manager = db.unwrap(PGConnection.class).getCopyAPI();
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 300; i += 1) text.append("1,copied ").append(i).append('\n');
    equal(manager.copyIn("COPY parts (thing, what) FROM STDIN WITH (FORMAT csv)", new java.io.StringReader(text.toString())), 300L);
    java.io.StringWriter out = new java.io.StringWriter();
    equal(manager.copyOut("COPY (SELECT what FROM parts WHERE what LIKE 'copied%') TO STDOUT", out), 300L);
  }

  static void call() throws SQLException {
    try (CallableStatement call = db.prepareCall("{ ? = call twice(?) }")) {
      call.registerOutParameter(1, Types.INTEGER);
      call.setInt(2, 21);
      call.execute();
      equal(call.getInt(1), 42);
    }
  }

  static void simple() throws SQLException {
    try (Connection other = connect("?preferQueryMode=simple"); PreparedStatement select = other.prepareStatement("SELECT ?::int + 1, ?")) {
      select.setInt(1, 1);
      select.setString(2, "it's");
      ResultSet row = select.executeQuery();
      row.next();
      equal(row.getInt(1) + row.getString(2), "2it's");
      equal(other.createStatement().execute("SELECT 1; SELECT 2"), true);
    }
  }

  static void cancel() throws SQLException {
    String slow = "SELECT count(*) FROM generate_series(1, 3000) a, generate_series(1, 3000) b, generate_series(1, 3000) c";
    try (Statement statement = db.createStatement()) {
      statement.setQueryTimeout(1);
      statement.executeQuery(slow);
      throw new AssertionError("no time-out");
    } catch (PSQLException error) {
      equal(error.getSQLState(), "57014");
    }
    equal(db.isValid(2), true);
  }

  static void session() throws SQLException {
    equal(db.getSchema(), "public");
    db.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
    equal(db.getTransactionIsolation(), Connection.TRANSACTION_SERIALIZABLE);
    db.setAutoCommit(false);
    db.setReadOnly(true);
    try {
      db.createStatement().execute("DELETE FROM parts");
      throw new AssertionError("no error");
    } catch (PSQLException error) {
      equal(error.getSQLState(), "25006");
    }
    db.rollback();
    db.setReadOnly(false);
    db.setAutoCommit(true);
    db.setClientInfo("ApplicationName", "quick start");
    ResultSet row = db.createStatement().executeQuery("SHOW application_name");
    row.next();
    equal(row.getString(1), "quick start");
  }
}
