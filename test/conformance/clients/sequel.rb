# Sequel: schema, types of PostgreSQL, introspection, cursors, COPY, notifications, errors by class.
require "sequel"

def step(what)
  yield
  puts "ok - #{what}"
rescue StandardError => error
  puts "not ok - #{what} # #{error.class} #{error.message.gsub(/\s+/, " ")[0, 300]}"
end

def equal(actual, expected)
  raise "#{actual.inspect} where #{expected.inspect} was expected" unless actual == expected
end

def fails(kind)
  yield
rescue kind
  nil
else
  raise "no error where #{kind} was expected"
end

DB = Sequel.connect(ENV["DATABASE_URL"])
DB.extension :pg_array, :pg_json, :pg_range, :pg_interval, :pg_enum, :pg_row, :pg_inet

step "tables with arrays, JSON, ranges, exclusion constraints" do
  DB.create_table(:artists) do
    primary_key :id
    String :name, null: false, unique: true
    column :tags, "text[]"
    column :data, :jsonb
    column :years, :int4range
    Time :at, default: Sequel::CURRENT_TIMESTAMP
    index :name, type: :hash
    check { char_length(name) > 1 }
  end
  DB.create_table(:albums) do
    primary_key :id, type: :bigint
    foreign_key :artist_id, :artists, on_delete: :cascade, deferrable: true
    Numeric :price, size: [10, 2]
    exclude [[:artist_id, "="]], using: :btree, name: :one_each
  end
end
step "alter a table" do
  DB.alter_table(:artists) do
    add_column :born, Date
    rename_column :born, :born_on
    set_column_default :name, "nobody"
    set_column_type :name, :varchar, size: 80
    add_index :data, type: :gin
    add_constraint(:positive) { id > 0 }
  end
  DB.alter_table(:artists) { drop_constraint :positive }
end
step "insert and read back" do
  row = { name: "Ann", tags: Sequel.pg_array(%w[a b]), data: Sequel.pg_jsonb({ "a" => 1 }), years: Sequel.pg_range(1...5) }
  equal DB[:artists].insert(row), 1
  found = DB[:artists].first
  equal [found[:tags].to_a, found[:data]["a"], found[:years].to_range], [%w[a b], 1, 1...5]
end
step "what the schema has" do
  schema = DB.schema(:artists).to_h
  equal [schema[:name][:max_length], schema[:id][:primary_key], schema[:id][:auto_increment]], [80, true, true]
  equal DB.indexes(:artists).keys.sort, %i[artists_data_index artists_name_index artists_name_key]
  equal DB.foreign_key_list(:albums).map { |key| key[:columns] }, [[:artist_id]]
  equal DB.check_constraints(:artists).values.map { |check| check[:columns] }, [[:name]]
  equal DB.primary_key_sequence(:artists), '"public"."artists_id_seq"'
  equal DB.tables.sort, %i[albums artists]
  DB.extension :schema_dumper
  equal DB.dump_schema_migration.include?("create_table(:artists"), true
end
step "upsert, MERGE, WITH RECURSIVE, windows" do
  DB[:artists].insert_conflict(target: :name, update: { id: Sequel[:excluded][:id] }).insert(name: "Ann", id: 7)
  numbers = DB[:t].with_recursive(:t, DB.select(Sequel.as(1, :n)), DB[:t].select { n + 1 }.where { n < 5 })
  equal numbers.sum(:n), 15
  DB[:albums].insert(artist_id: 7, price: 2.5)
  join = { Sequel[:artists][:id] => Sequel[:albums][:artist_id] }
  DB[:artists].merge_using(Sequel[:albums], join).merge_update(name: "Zoe").merge
  equal DB[:artists].select(:name) { row_number.function.over(order: :id).as(:place) }.all, [{ name: "Zoe", place: 1 }]
end
step "cursors and COPY" do
  equal DB["SELECT generate_series(1, 5000) g"].use_cursor(rows_per_fetch: 100).map(:g).size, 5000
  DB.copy_into(:albums, columns: %i[id artist_id price], data: ["50\t\\N\t2.5\n"])
  equal DB.copy_table(DB[:albums].where(id: 50).select(:id)), "50\n"
end
step "LISTEN and NOTIFY" do
  heard = nil
  DB.listen("news", after_listen: proc { DB.notify("news", payload: "hi") }, timeout: 5) { |_, _, payload| heard = payload }
  equal heard, "hi"
end
step "errors by class" do
  fails(Sequel::UniqueConstraintViolation) { DB[:artists].insert(name: "Zoe") }
  fails(Sequel::ForeignKeyConstraintViolation) { DB[:albums].insert(artist_id: 99) }
  fails(Sequel::CheckConstraintViolation) { DB[:artists].insert(name: "A") }
  fails(Sequel::NotNullConstraintViolation) { DB[:artists].insert(name: nil) }
end
step "models, prepared statements, locks, savepoints" do
  class Artist < Sequel::Model; end
  class Album < Sequel::Model
    many_to_one :artist
  end
  equal Album.eager_graph(:artist).where(artist_id: 7).all.map { |album| album.artist.name }, ["Zoe"]
  equal DB[:artists].where(name: :$n).prepare(:first, :by_name).call(n: "Zoe")[:id], 7
  DB.transaction do
    DB[:artists].for_update.first
    DB[:artists].lock("EXCLUSIVE")
    DB.transaction(savepoint: true) { raise Sequel::Rollback }
  end
end
step "enumerations, functions, triggers, views" do
  DB.create_enum(:mood, %w[a b])
  DB.add_enum_value(:mood, "c")
  DB.rename_enum_value(:mood, "c", "d")
  body = "BEGIN NEW.name := upper(NEW.name); RETURN NEW; END"
  DB.create_function(:shout, body, language: :plpgsql, returns: :trigger)
  DB.create_trigger(:artists, :loud, :shout, events: [:insert], each_row: true)
  DB[:artists].insert(name: "bob")
  equal DB[:artists].where(name: "BOB").count, 1
  DB.drop_trigger(:artists, :loud)
  DB.drop_function(:shout)
  DB.create_view(:names, DB[:artists].select(:id), materialized: true)
  DB.refresh_view(:names)
  DB.drop_view(:names, materialized: true)
end
