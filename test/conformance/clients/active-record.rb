# Active Record: migrations, types of PostgreSQL, errors by class, locks, the dump of the schema.
require "active_record"
require "stringio"

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

env = ENV.to_h
ActiveRecord::Base.establish_connection(adapter: "postgresql", host: env["PGHOST"], port: env["PGPORT"],
  username: env["PGUSER"], password: env["PGPASSWORD"], database: env["PGDATABASE"])
ActiveRecord::Migration.verbose = false

class Person < ActiveRecord::Base
  has_many :pets, dependent: :destroy
end

class Pet < ActiveRecord::Base
  belongs_to :person
end

class First < ActiveRecord::Migration[6.1]
  def change
    enable_extension "pgcrypto"
    create_table(:people) do |t|
      t.string :name, null: false, limit: 80
      t.text :tags, array: true, default: []
      t.jsonb :data, default: {}
      t.int4range :r
      t.decimal :price, precision: 8, scale: 2
      t.timestamps
      t.index :name, unique: true
      t.index "lower(name)", name: "low"
      t.index :data, using: :gin
    end
    create_table(:pets, id: :uuid) do |t|
      t.references :person, foreign_key: { on_delete: :cascade }
      t.string :kind, comment: "sort"
    end
    add_check_constraint :people, "price > 0", name: "pos"
    change_column_null :pets, :kind, false
    rename_column :people, :r, :ages
  end
end

step("a migration") do
  First.migrate(:up)
  Person.reset_column_information
end
step("records with arrays, jsonb, ranges; upserts, batches, joins") do
  person = Person.create!(name: "A", tags: %w[x y], data: { a: 1 }, ages: 1..5, price: 2)
  person.pets.create!(kind: "dog")
  person.reload
  equal [person.tags, person.data, person.ages, person.price.to_s], [%w[x y], { "a" => 1 }, 1...6, "2.0"]
  now = Time.now
  Person.upsert_all([{ name: "A", price: 3, created_at: now, updated_at: now }], unique_by: :name)
  Person.insert_all([{ name: "B", created_at: now, updated_at: now }])
  equal Person.find_each(batch_size: 1).map { |each| each.price&.to_s }, ["3.0", nil]
  equal Person.joins(:pets).group(:name).count, { "A" => 1 }
  equal Person.where("data @> ?", '{"a":1}').includes(:pets).first.pets.size, 1
end
step("errors by class, savepoints, locks, isolation") do
  fails(ActiveRecord::RecordNotUnique) { Person.create!(name: "A") }
  fails(ActiveRecord::InvalidForeignKey) { Pet.insert_all!([{ person_id: 99, kind: "x" }]) }
  fails(ActiveRecord::NotNullViolation) { Person.create!(name: nil) }
  Person.transaction do
    Person.lock.find(1)
    Person.transaction(requires_new: true) do
      Pet.delete_all
      raise ActiveRecord::Rollback
    end
  end
  equal Pet.count, 1
  equal ActiveRecord::Base.connection.get_advisory_lock(5), true
  equal Person.transaction(isolation: :serializable) { Person.first.name }, "A"
end
step("the dump of the schema") do
  out = StringIO.new
  ActiveRecord::SchemaDumper.dump(ActiveRecord::Base.connection, out)
  [/create_table "pets", id: :uuid, default: -> \{ "gen_random_uuid\(\)" \}/, /t\.int4range "ages"/, /comment: "sort"/,
   /t\.text "tags", default: \[\], array: true/, /t\.index .*lower.*, name: "low"/,
   /t\.check_constraint "price > .*name: "pos"/, /add_foreign_key "pets", "people", on_delete: :cascade/]
    .each { |part| raise "no #{part.source}" unless part.match?(out.string) }
end
