# DBIx::Class on DBD::Pg: relations, savepoints, the schema loader, metadata, large objects, asynchronous statements.
use strict;
use warnings;
use DBI;
use DBD::Pg;

sub step {
    my ($what, $action) = @_;
    if (eval { $action->(); 1 }) {
        print "ok - $what\n";
        return;
    }
    my $error = "$@";
    $error =~ s/\s+/ /g;
    print "not ok - $what # ", substr($error, 0, 300), "\n";
}

sub equal {
    my ($actual, $expected) = @_;
    die "$actual where $expected was expected" unless $actual eq $expected;
}

package Shop::Result::Artist {
    use base 'DBIx::Class::Core';
    __PACKAGE__->table('artist');
    __PACKAGE__->add_columns(
        id   => { data_type => 'integer', is_auto_increment => 1 },
        name => { data_type => 'varchar', size => 80 },
        born => { data_type => 'timestamp with time zone', is_nullable => 1 },
        tags => { data_type => 'text[]', is_nullable => 1 },
        bin  => { data_type => 'bytea', is_nullable => 1 },
    );
    __PACKAGE__->set_primary_key('id');
    __PACKAGE__->add_unique_constraint(['name']);
    __PACKAGE__->has_many(cds => 'Shop::Result::Cd', 'artist_id');
}

package Shop::Result::Cd {
    use base 'DBIx::Class::Core';
    __PACKAGE__->table('cd');
    __PACKAGE__->add_columns(
        id        => { data_type => 'integer', is_auto_increment => 1 },
        artist_id => { data_type => 'integer', is_foreign_key => 1 },
        title     => { data_type => 'text' },
    );
    __PACKAGE__->set_primary_key('id');
    __PACKAGE__->belongs_to(artist => 'Shop::Result::Artist', 'artist_id');
}

package Shop {
    use base 'DBIx::Class::Schema';
    __PACKAGE__->register_class('Artist', 'Shop::Result::Artist');
    __PACKAGE__->register_class('Cd',     'Shop::Result::Cd');
}

package main;

my @login = ("dbi:Pg:host=$ENV{PGHOST};port=$ENV{PGPORT};dbname=$ENV{PGDATABASE}", $ENV{PGUSER}, $ENV{PGPASSWORD});
my $shop = Shop->connect(@login, { RaiseError => 1, PrintError => 0, pg_enable_utf8 => 1, quote_names => 1 });

step 'tables' => sub {
    $shop->storage->dbh->do($_) for (
        'CREATE TABLE artist (id serial PRIMARY KEY, name varchar(80) NOT NULL UNIQUE, born timestamptz, tags text[], bin bytea)',
        'CREATE TABLE cd (id serial PRIMARY KEY, artist_id int NOT NULL REFERENCES artist ON DELETE CASCADE, title text NOT NULL)',
    );
};
step 'rows with arrays and bytes, relations' => sub {
    my $ann = $shop->resultset('Artist')
        ->create({ name => 'Ann', born => '2020-01-02 03:04:05+00', tags => [ 'a', 'b' ], bin => "\0\1" });
    equal $ann->id, 1;
    $ann->create_related('cds', { title => $_ }) for qw/x y/;
    $ann->discard_changes;
    equal join(',', $ann->cds->count, $ann->tags->[1], length $ann->bin), '2,b,2';
};
step 'prefetch, pages, groups, subqueries' => sub {
    my %paged = (prefetch => 'cds', order_by => 'me.name', rows => 5, page => 1);
    equal scalar($shop->resultset('Artist')->search({}, \%paged)->all), 1;
    my %grouped = (
        join     => 'artist',
        select   => [ 'artist.name', { count => 'me.id' } ],
        as       => [qw/name count/],
        group_by => ['artist.name'],
    );
    equal $shop->resultset('Cd')->search({ 'artist.name' => 'Ann' }, \%grouped)->first->get_column('count'), 2;
    my $with_cds = $shop->resultset('Cd')->get_column('artist_id')->as_query;
    equal $shop->resultset('Artist')->search({ id => { -in => $with_cds } })->count, 1;
};
step 'transactions with savepoints, locks, many rows' => sub {
    $shop->txn_do(sub {
        $shop->svp_begin('one');
        eval { $shop->resultset('Artist')->create({ name => 'Ann' }) };
        die 'no error' unless $@ =~ /unique/;
        $shop->svp_rollback('one');
        $shop->resultset('Artist')->create({ name => 'Bob' });
        $shop->resultset('Artist')->search({ name => 'Bob' }, { for => 'update' })->single;
    });
    $shop->resultset('Artist')->populate([ map { { name => "n$_" } } 1 .. 50 ]);
    equal 0 + $shop->resultset('Artist')->search({ name => { -like => 'n%' } })->delete, 50;
};
step 'the schema loader finds columns, keys and relations' => sub {
    require DBIx::Class::Schema::Loader;
    my %options = (naming => 'current', skip_load_external => 1);
    DBIx::Class::Schema::Loader::make_schema_at('Found', \%options, \@login);
    equal(Found->source('Artist')->column_info('name')->{size}, 80);
    equal(join(',', Found->source('Cd')->relationships, Found->source('Cd')->primary_columns), 'artist,id');
};

my $dbh = DBI->connect(@login, { RaiseError => 1, PrintError => 0, AutoCommit => 1 });

step 'metadata of DBI' => sub {
    equal scalar(@{ $dbh->column_info(undef, 'public', 'artist', '%')->fetchall_arrayref({}) }), 5;
    equal $dbh->primary_key_info(undef, 'public', 'artist')->fetchrow_hashref->{COLUMN_NAME}, 'id';
    my $key = $dbh->foreign_key_info(undef, 'public', 'artist', undef, 'public', 'cd')->fetchrow_hashref;
    equal $key->{FK_NAME}, 'cd_artist_id_fkey';
    equal scalar(@{ $dbh->statistics_info(undef, 'public', 'artist', 1, 0)->fetchall_arrayref }) > 0, 1;
};
step 'large objects' => sub {
    $dbh->begin_work;
    my $id = $dbh->pg_lo_creat($dbh->{pg_INV_READ} | $dbh->{pg_INV_WRITE}) or die 'none was made';
    my $written = $dbh->pg_lo_open($id, $dbh->{pg_INV_WRITE});
    equal $dbh->pg_lo_write($written, 'hello there', 11), 11;
    $dbh->pg_lo_close($written);
    my $read = $dbh->pg_lo_open($id, $dbh->{pg_INV_READ});
    $dbh->pg_lo_lseek($read, 6, 0);
    my $bytes = '';
    equal $dbh->pg_lo_read($read, $bytes, 100), 5;
    equal $bytes, 'there';
    $dbh->pg_lo_unlink($id);
    $dbh->commit;
};
step 'an asynchronous statement, COPY' => sub {
    $dbh->do('SELECT pg_sleep(0.01)', { pg_async => DBD::Pg::PG_ASYNC() });
    $dbh->pg_result;
    $dbh->do('COPY cd (artist_id, title) FROM STDIN');
    $dbh->pg_putcopydata("1\tz\n");
    $dbh->pg_putcopyend;
    equal $dbh->selectrow_array('SELECT count(*) FROM cd'), 3;
};
