<?php
// PHP: PDO, the functions pg_*, and Doctrine DBAL with its schema tool.
require '/usr/share/php/Doctrine/DBAL/autoload.php';

use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Exception as Failure;
use Doctrine\DBAL\Schema\Schema;

function step(string $what, callable $action): void
{
    try {
        $action();
        echo "ok - $what\n";
    } catch (Throwable $error) {
        echo "not ok - $what # ", get_class($error), ' ', preg_replace('/\s+/', ' ', $error->getMessage()), "\n";
    }
}

function equal($actual, $expected): void
{
    if ($actual !== $expected) {
        throw new Exception(json_encode($actual) . ' where ' . json_encode($expected) . ' was expected');
    }
}

/** The action must throw this; gives it. */
function fails(string $kind, callable $action): Throwable
{
    try {
        $action();
    } catch (Throwable $error) {
        if ($error instanceof $kind) {
            return $error;
        }
        throw $error;
    }
    throw new Exception("no error where $kind was expected");
}

['PGHOST' => $host, 'PGPORT' => $port, 'PGDATABASE' => $database, 'PGUSER' => $user, 'PGPASSWORD' => $password] = getenv();
$pdo = new PDO("pgsql:host=$host;port=$port;dbname=$database", $user, $password, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);

step('PDO: a table, prepared statements, types', function () use ($pdo) {
    $pdo->exec('CREATE TABLE p (id serial PRIMARY KEY, name text NOT NULL UNIQUE, b boolean, n numeric(10,2), d bytea, j jsonb)');
    $insert = $pdo->prepare('INSERT INTO p (name, b, n, d, j) VALUES (:name, :b, :n, :d, :j) RETURNING id');
    $insert->bindValue('name', 'x');
    $insert->bindValue('b', true, PDO::PARAM_BOOL);
    $insert->bindValue('n', '12.50');
    $insert->bindValue('d', "\0\1\xff", PDO::PARAM_LOB);
    $insert->bindValue('j', '{"a":1}');
    $insert->execute();
    equal($insert->fetchColumn(), 1);
    equal([$pdo->lastInsertId('p_id_seq'), $pdo->lastInsertId()], ['1', '1']);
    $row = $pdo->query('SELECT * FROM p')->fetch(PDO::FETCH_ASSOC);
    equal([$row['b'], $row['n'], stream_get_contents($row['d'])], [true, '12.50', "\0\1\xff"]);
});
step('PDO: emulated statements, facts about columns', function () use ($pdo) {
    $pdo->setAttribute(PDO::ATTR_EMULATE_PREPARES, true);
    $query = $pdo->prepare("SELECT j ?? 'a' AS has, ? || 'z' FROM p");
    $query->execute(["it's"]);
    equal($query->fetch(PDO::FETCH_NUM), [true, "it'sz"]);
    $pdo->setAttribute(PDO::ATTR_EMULATE_PREPARES, false);
    $meta = $pdo->query('SELECT id, n FROM p')->getColumnMeta(1);
    equal([$meta['native_type'], $meta['table'], $meta['precision']], ['numeric', 'p', 655366]);
});
step('PDO: transactions, errors, a cursor that scrolls', function () use ($pdo) {
    $pdo->beginTransaction();
    equal(fails(PDOException::class, fn () => $pdo->exec("INSERT INTO p (name) VALUES ('x')"))->getCode(), '23505');
    $pdo->rollBack();
    $pdo->beginTransaction();
    $cursor = $pdo->prepare('SELECT g FROM generate_series(1, 5) g', [PDO::ATTR_CURSOR => PDO::CURSOR_SCROLL]);
    $cursor->execute();
    $at = fn (int $how, int $place = 0) => $cursor->fetch(PDO::FETCH_NUM, $how, $place)[0];
    equal([$at(PDO::FETCH_ORI_LAST), $at(PDO::FETCH_ORI_FIRST), $at(PDO::FETCH_ORI_ABS, 3)], [5, 1, 3]);
    unset($at, $cursor);
    $pdo->commit();
});
step('PDO: COPY, notifications, large objects', function () use ($pdo) {
    $pdo->exec('CREATE TABLE c (a int, b text)');
    $pdo->pgsqlCopyFromArray('c', ["1\tone\n", "2\t\\N\n"]);
    equal($pdo->pgsqlCopyToArray('c'), ["1\tone\n", "2\t\\N\n"]);
    $pdo->exec('LISTEN news');
    $pdo->exec("NOTIFY news, 'hi'");
    equal($pdo->pgsqlGetNotify(PDO::FETCH_ASSOC, 2000)['payload'], 'hi');
    $pdo->beginTransaction();
    $oid = $pdo->pgsqlLOBCreate();
    $file = $pdo->pgsqlLOBOpen($oid, 'w');
    fwrite($file, str_repeat('0123456789', 1000));
    fclose($file);
    $file = $pdo->pgsqlLOBOpen($oid, 'r');
    fseek($file, 9995);
    equal(fread($file, 100), '56789');
    fclose($file);
    $pdo->pgsqlLOBUnlink($oid);
    $pdo->commit();
});
step('pg_*: metadata, parameters, several results', function () use ($host, $port, $database, $user, $password) {
    $connection = pg_connect("host=$host port=$port dbname=$database user=$user password=$password");
    $meta = pg_meta_data($connection, 'p', true);
    equal([$meta['name']['type'], $meta['name']['not null']], ['text', true]);
    pg_insert($connection, 'p', ['name' => 'second', 'n' => '1.5']);
    equal(pg_select($connection, 'p', ['name' => 'second'])[0]['n'], '1.50');
    pg_update($connection, 'p', ['n' => '2'], ['name' => 'second']);
    pg_delete($connection, 'p', ['name' => 'second']);
    $result = pg_query_params($connection, 'SELECT $1::int + 1 AS x', [41]);
    equal([pg_fetch_all($result), pg_field_type($result, 0)], [[['x' => '42']], 'int4']);
    pg_send_query($connection, 'SELECT 1; SELECT 2');
    for ($count = 0; pg_get_result($connection); $count++);
    equal($count, 2);
});

$dbal = DriverManager::getConnection(['driver' => 'pdo_pgsql', 'host' => $host, 'port' => $port, 'dbname' => $database, 'user' => $user, 'password' => $password]);
$manager = $dbal->createSchemaManager();

step('DBAL: the schema tool makes tables, indexes and keys', function () use ($dbal) {
    $schema = new Schema();
    $author = $schema->createTable('author');
    $author->addColumn('id', 'integer', ['autoincrement' => true]);
    $author->addColumn('name', 'string', ['length' => 80, 'comment' => 'the name']);
    $author->addColumn('born', 'date', ['notnull' => false]);
    $author->addColumn('data', 'json', ['notnull' => false, 'platformOptions' => ['jsonb' => true]]);
    $author->addColumn('tags', 'simple_array', ['notnull' => false]);
    $author->setPrimaryKey(['id']);
    $author->addUniqueIndex(['name'], 'u_name');
    $book = $schema->createTable('book');
    $book->addColumn('id', 'bigint', ['autoincrement' => true]);
    $book->addColumn('author_id', 'integer');
    $book->addColumn('price', 'decimal', ['precision' => 10, 'scale' => 2, 'default' => '0']);
    $book->addColumn('at', 'datetimetz');
    $book->addColumn('ok', 'boolean', ['default' => true]);
    $book->setPrimaryKey(['id']);
    $book->addForeignKeyConstraint('author', ['author_id'], ['id'], ['onDelete' => 'CASCADE'], 'fk_author');
    $schema->createSequence('numbers', 5, 10);
    foreach ($schema->toSql($dbal->getDatabasePlatform()) as $sql) {
        $dbal->executeStatement($sql);
    }
});
step('DBAL: finds the schema again, alters it, and finds no difference', function () use ($manager) {
    $found = $manager->introspectSchema();
    $book = $found->getTable('book');
    equal([$book->getColumn('price')->getPrecision(), $book->getColumn('id')->getAutoincrement()], [10, true]);
    equal([array_keys($book->getForeignKeys()), $found->getSequence('numbers')->getAllocationSize()], [['fk_author'], 5]);
    equal($found->getTable('author')->getColumn('name')->getComment(), 'the name');
    $wanted = clone $found;
    $author = $wanted->getTable('author');
    $author->addColumn('mail', 'string', ['length' => 50, 'default' => '']);
    $author->changeColumn('name', ['length' => 120, 'comment' => 'changed']);
    $author->dropColumn('tags');
    $wanted->getTable('book')->addIndex(['at']);
    $compare = fn (Schema $before) => $manager->createComparator()->compareSchemas($before, $wanted);
    $manager->alterSchema($compare($found));
    equal($compare($manager->introspectSchema())->isEmpty(), true);
    foreach (['listDatabases', 'listSchemaNames', 'listTableNames', 'listViews', 'listSequences'] as $list) {
        $manager->$list();
    }
});
step('DBAL: types, lists of parameters, nested transactions', function () use ($dbal) {
    $dbal->insert('author', ['name' => 'Ann', 'born' => new DateTime('1970-01-02'), 'data' => ['x' => 1]], ['born' => 'date', 'data' => 'json']);
    $id = $dbal->lastInsertId();
    $at = new DateTimeImmutable('2020-01-01T00:00:00+02:00');
    $dbal->insert('book', ['author_id' => $id, 'price' => '9.90', 'at' => $at, 'ok' => false], ['at' => 'datetimetz_immutable', 'ok' => 'boolean']);
    $sql = 'SELECT a.name, sum(b.price) s FROM author a LEFT JOIN book b ON b.author_id = a.id WHERE a.id IN (?) GROUP BY a.name';
    equal($dbal->fetchAllAssociative($sql, [[1, 2, 3]], [Doctrine\DBAL\Connection::PARAM_INT_ARRAY]), [['name' => 'Ann', 's' => '9.90']]);
    $dbal->setNestTransactionsWithSavepoints(true);
    $dbal->beginTransaction();
    $dbal->beginTransaction();
    $dbal->insert('author', ['name' => 'gone']);
    $dbal->rollBack();
    $dbal->commit();
    equal($dbal->fetchOne('SELECT count(*) FROM author'), 1);
});
step('DBAL: errors by class', function () use ($dbal) {
    fails(Failure\UniqueConstraintViolationException::class, fn () => $dbal->insert('author', ['name' => 'Ann']));
    fails(Failure\ForeignKeyConstraintViolationException::class, fn () => $dbal->insert('book', ['author_id' => 99, 'at' => '2020-01-01']));
    fails(Failure\NotNullConstraintViolationException::class, fn () => $dbal->insert('author', ['name' => null]));
    fails(Failure\InvalidFieldNameException::class, fn () => $dbal->executeQuery('SELECT nope FROM author'));
    fails(Failure\TableNotFoundException::class, fn () => $dbal->executeQuery('SELECT 1 FROM nope'));
    fails(Failure\SyntaxErrorException::class, fn () => $dbal->executeQuery('SELEC'));
});
