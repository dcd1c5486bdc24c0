/** The clients of `make conformance-clients`: what runs each one's program in clients/, and what it needs. */

export interface Client {
  /** Also of its tenant and user. */
  readonly name: string;
  /** Run in the folder with the programs and npm's packages. */
  readonly command: readonly [string, ...string[]];
  /** Programs or files; where one lacks, the Debian packages are installed. */
  readonly needs?: readonly string[];
  readonly debian?: readonly string[];
  /** The program compares with a PostgreSQL server. */
  readonly oracle?: true;
  /** Until the program is ended; absent: 60. */
  readonly seconds?: number;
}

/** Debian's Python: the packages with the clients are installed for it. */
const PYTHON = "/usr/bin/python3";
const PYTHON_PACKAGES = "/usr/lib/python3/dist-packages";
const JDBC = "/usr/share/java/postgresql.jar";

function node(name: string, more: Partial<Client> = {}): Client {
  return { name, command: [process.execPath, `${name}.mjs`], ...more };
}

function python(name: string, module: string, more: Partial<Client> = {}): Client {
  return {
    name,
    // Not of the module's own name, which would hide the module.
    command: [PYTHON, `drive-${name}.py`],
    needs: [PYTHON, `${PYTHON_PACKAGES}/${module}`],
    debian: [`python3-${module}`],
    ...more,
  };
}

export const CLIENTS: readonly Client[] = [
  node("psql", { needs: ["psql"], debian: ["postgresql-client"] }),
  node("pg_dump", { needs: ["psql", "pg_dump", "pg_restore"], debian: ["postgresql"], oracle: true, seconds: 120 }),
  node("pgbench", { needs: ["pgbench"], debian: ["postgresql-contrib"], seconds: 120 }),
  python("psycopg2", "psycopg2"),
  python("psycopg", "psycopg"),
  python("asyncpg", "asyncpg"),
  python("sqlalchemy", "sqlalchemy", {
    needs: [PYTHON, ...["sqlalchemy", "alembic", "psycopg2"].map((module) => `${PYTHON_PACKAGES}/${module}`)],
    debian: ["python3-sqlalchemy", "alembic", "python3-psycopg2"],
  }),
  python("django", "django", {
    needs: [PYTHON, ...["django", "psycopg2"].map((module) => `${PYTHON_PACKAGES}/${module}`)],
    debian: ["python3-django", "python3-psycopg2"],
    seconds: 120,
  }),
  python("peewee", "peewee", {
    needs: [PYTHON, `${PYTHON_PACKAGES}/peewee.py`, `${PYTHON_PACKAGES}/psycopg2`],
    debian: ["python3-peewee", "python3-psycopg2"],
  }),
  {
    name: "jdbc",
    command: ["java", "-cp", JDBC, "Jdbc.java"],
    needs: ["java", "javac", JDBC],
    debian: ["libpostgresql-jdbc-java", "default-jdk-headless"],
  },
  node("odbc", { needs: ["isql", "/etc/odbcinst.ini"], debian: ["unixodbc", "odbc-postgresql"] }),
  {
    name: "dbd-pg",
    command: ["perl", "dbd-pg.pl"],
    needs: ["perl", "/usr/share/doc/libdbd-pg-perl"],
    debian: ["libdbd-pg-perl"],
  },
  {
    name: "active-record",
    command: ["ruby", "active-record.rb"],
    needs: ["ruby", "/usr/share/doc/ruby-activerecord", "/usr/share/doc/ruby-pg"],
    debian: ["ruby-activerecord", "ruby-pg"],
  },
  {
    name: "sequel",
    command: ["ruby", "sequel.rb"],
    needs: ["ruby", "/usr/share/doc/ruby-sequel", "/usr/share/doc/ruby-pg"],
    debian: ["ruby-sequel", "ruby-pg"],
  },
  {
    name: "dbix-class",
    command: ["perl", "dbix-class.pl"],
    needs: ["perl", "/usr/share/doc/libdbd-pg-perl", "/usr/share/doc/libdbix-class-schema-loader-perl"],
    debian: ["libdbd-pg-perl", "libdbix-class-perl", "libdbix-class-schema-loader-perl"],
  },
  {
    name: "doctrine",
    command: ["php", "doctrine.php"],
    needs: ["php", "/usr/share/doc/php-pgsql", "/usr/share/php/Doctrine/DBAL/autoload.php"],
    debian: ["php-cli", "php-pgsql", "php-doctrine-dbal"],
  },
  {
    name: "go-drivers",
    command: ["env", "GO111MODULE=off", "GOPATH=/usr/share/gocode", "go", "run", "go-drivers.go"],
    needs: ["go", "/usr/share/gocode/src/github.com/lib/pq", "/usr/share/gocode/src/github.com/jackc/pgx"],
    debian: ["golang-go", "golang-github-lib-pq-dev", "golang-github-jackc-pgx-v4-dev"],
    // Most of it is the compiler's.
    seconds: 300,
  },
  node("ecpg", { needs: ["ecpg", "gcc", "pg_config"], debian: ["libecpg-dev", "gcc"] }),
  node("monitoring", {
    needs: ["prometheus-postgres-exporter", "check_postgres", "postgresql_autodoc", "psql"],
    debian: ["prometheus-postgres-exporter", "check-postgres", "postgresql-autodoc", "postgresql-client"],
  }),
  node("pg"),
  node("postgres"),
  node("knex"),
  node("kysely"),
  node("drizzle", { seconds: 120 }),
  node("typeorm"),
  node("sequelize"),
  node("mikro-orm"),
  node("postgraphile"),
  node("pg-boss"),
  node("graphile-worker"),
  node("pgvector"),
  node("pg-promise"),
  node("objection"),
  node("massive"),
  node("stores"),
  node("slonik"),
  node("pg-copy-streams"),
  node("prisma", { seconds: 120 }),
  node("langchain"),
  node("llamaindex"),
  node("authjs"),
  node("better-auth"),
  node("pgbouncer", { needs: ["pgbouncer", "psql"], debian: ["pgbouncer", "postgresql-client"] }),
  node("adminer", {
    needs: ["php", "/usr/share/adminer/adminer.php", "/usr/share/doc/php-pgsql", "chromium"],
    debian: ["adminer", "php-cli", "php-pgsql", "chromium"],
    seconds: 120,
  }),
  node("pgloader", { needs: ["pgloader", "psql"], debian: ["pgloader", "postgresql-client"] }),
  node("ogr2ogr", { needs: ["ogr2ogr"], debian: ["gdal-bin"] }),
];
