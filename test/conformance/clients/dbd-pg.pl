# DBD::Pg: placeholders, types, arrays, COPY, savepoints, metadata, asynchronous statements.
use strict;
use warnings;
use DBI;
use DBD::Pg qw(:pg_types :async);

$| = 1;
binmode STDOUT, ':utf8';

sub step {
  my ($what, $action) = @_;
  if (eval { $action->(); 1 }) { print "ok - $what\n"; return }
  my $text = "$@";
  $text =~ s/\s+/ /g;
  print "not ok - $what # $text\n";
}

sub equal {
  my ($actual, $expected) = map { ref $_ ? join('|', map { $_ // 'undef' } @$_) : $_ // 'undef' } @_;
  die "$actual where $expected was expected\n" if $actual ne $expected;
}

my %options = (AutoCommit => 1, RaiseError => 1, PrintError => 0, PrintWarn => 0);
my $db = DBI->connect('dbi:Pg:', '', '', \%options);

step 'create, insert with placeholders, RETURNING', sub {
  $db->do('CREATE TABLE things (id serial PRIMARY KEY, name text UNIQUE, price numeric(8, 2), bits bytea, list int[], ok bool, data jsonb)');
  my $insert = $db->prepare('INSERT INTO things (name, price, bits, list, ok, data) VALUES (?, ?, ?, ?, ?, ?) RETURNING id');
  $insert->bind_param(3, undef, { pg_type => PG_BYTEA });
  $insert->execute("h\x{e9}llo", '1.50', "\x00\xff", [1, 2, 3], 1, '{"a": 1}');
  equal($insert->fetchrow_array, 1);
};
step 'rows as arrays, hashes, with their types', sub {
  my $row = $db->selectrow_hashref('SELECT * FROM things WHERE id = ?', undef, 1);
  equal([@$row{qw(name price bits ok data)}, @{ $row->{list} }], ["h\x{e9}llo", '1.50', "\x00\xff", 1, '{"a": 1}', 1, 2, 3]);
  my $select = $db->prepare('SELECT id, name, price FROM things');
  $select->execute;
  equal($select->{pg_type}, [qw(int4 text numeric)]);
  equal($select->{NAME}, [qw(id name price)]);
};
step 'a transaction with savepoints and an error', sub {
  $db->begin_work;
  $db->do(q{INSERT INTO things (name) VALUES ('kept')});
  $db->pg_savepoint('one');
  eval { $db->do(q{INSERT INTO things (name) VALUES ('kept')}) };
  equal([$db->state, $db->pg_error_field('constraint'), $db->pg_error_field('table')], ['23505', 'things_name_key', 'things']);
  $db->pg_rollback_to('one');
  $db->commit;
  equal($db->selectrow_array(q{SELECT count(*) FROM things WHERE name = 'kept'}), 1);
};
step 'COPY in and out', sub {
  $db->do('COPY things (name, price) FROM STDIN');
  $db->pg_putcopydata("copied $_\t$_\n") for 1 .. 100;
  $db->pg_putcopyend;
  $db->do('COPY (SELECT name FROM things WHERE name LIKE \'copied%\') TO STDOUT');
  my ($line, $rows) = ('', 0);
  $rows++ while $db->pg_getcopydata(\$line) >= 0;
  equal($rows, 100);
};
step 'execute_array, named placeholders, $1', sub {
  my $insert = $db->prepare('INSERT INTO things (name, price) VALUES ($1, $2)');
  equal($insert->execute_array({}, [map { "many $_" } 1 .. 50], [1 .. 50]), 50);
  my $select = $db->prepare('SELECT count(*) FROM things WHERE name LIKE :pattern AND price > :least');
  $select->bind_param(':pattern', 'many%');
  $select->bind_param(':least', 40);
  $select->execute;
  equal($select->fetchrow_array, 10);
};
step 'an asynchronous statement', sub {
  $db->do('SELECT pg_sleep(0.1)', { pg_async => PG_ASYNC });
  select undef, undef, undef, 0.02 until $db->pg_ready;
  equal($db->pg_result, 1);
};
step 'metadata: tables, columns, keys', sub {
  $db->do('CREATE TABLE parts (id int PRIMARY KEY, thing int NOT NULL REFERENCES things (id))');
  equal([sort grep { /^public/ } $db->tables('', 'public', '', 'TABLE')], ['public.parts', 'public.things']);
  my $columns = $db->column_info('', 'public', 'things', '%')->fetchall_arrayref({});
  equal([map { $_->{COLUMN_NAME} } @$columns], [qw(id name price bits list ok data)]);
  equal([$db->primary_key('', 'public', 'things')], ['id']);
  my $key = $db->foreign_key_info('', 'public', 'things', '', 'public', 'parts')->fetchrow_hashref;
  equal([@$key{qw(FK_TABLE_NAME FK_COLUMN_NAME UK_COLUMN_NAME)}], [qw(parts thing id)]);
  my $statistics = $db->statistics_info('', 'public', 'things', 1, 0)->fetchall_arrayref({});
  equal(scalar(grep { ($_->{INDEX_NAME} // '') eq 'things_name_key' } @$statistics), 1);
  equal($db->last_insert_id('', 'public', 'things', '') > 100, 1);
  $db->type_info_all;
};
step 'ping, server version, disconnect', sub {
  equal([$db->ping > 0, $db->{pg_server_version} >= 150000, $db->{pg_db}], [1, 1, $ENV{PGDATABASE}]);
  $db->disconnect;
};
