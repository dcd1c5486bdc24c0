// Go: database/sql with lib/pq, and pgx with its types in binary, batches, COPY and large objects.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgconn"
	"github.com/jackc/pgtype"
	"github.com/jackc/pgx/v4"
	"github.com/jackc/pgx/v4/pgxpool"
	"github.com/lib/pq"
)

func step(what string, f func() error) {
	if err := f(); err != nil {
		fmt.Printf("not ok - %s # %s\n", what, strings.Join(strings.Fields(err.Error()), " "))
	} else {
		fmt.Printf("ok - %s\n", what)
	}
}
func eq(a, b interface{}) error {
	x, y := fmt.Sprintf("%v", a), fmt.Sprintf("%v", b)
	if x != y {
		return fmt.Errorf("%s where %s", x, y)
	}
	return nil
}
func must(errs ...error) error {
	for _, e := range errs {
		if e != nil {
			return e
		}
	}
	return nil
}

func main() {
	url := os.Getenv("DATABASE_URL")
	db, err := sql.Open("postgres", url+"?sslmode=disable")
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	step("lib/pq: tables, arrays, bytea, times, nulls", func() error {
		if _, err := db.Exec(`CREATE TABLE t (id serial primary key, name text, tags text[], b bytea, at timestamptz, f float8, n numeric, ok bool, nums bigint[])`); err != nil {
			return err
		}
		var id int
		at := time.Date(2020, 1, 2, 3, 4, 5, 6000, time.UTC)
		if err := db.QueryRow(`INSERT INTO t(name,tags,b,at,f,ok,nums) VALUES($1,$2,$3,$4,$5,$6,$7) RETURNING id`, "x", pq.Array([]string{"a", "b,\"c"}), []byte{0, 1, 255}, at, 1.5, true, pq.Array([]int64{1, 2})).Scan(&id); err != nil {
			return err
		}
		var tags []string
		var b []byte
		var got time.Time
		var f float64
		var n sql.NullFloat64
		var nums []int64
		if err := db.QueryRow(`SELECT tags,b,at,f,n,nums FROM t WHERE id=$1`, id).Scan(pq.Array(&tags), &b, &got, &f, &n, pq.Array(&nums)); err != nil {
			return err
		}
		return must(eq(tags, []string{"a", "b,\"c"}), eq(b, []byte{0, 1, 255}), eq(got.UTC(), at), eq(n.Valid, false), eq(nums, []int64{1, 2}))
	})
	step("lib/pq: CopyIn in a transaction", func() error {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		st, err := tx.Prepare(pq.CopyIn("t", "name", "f", "b"))
		if err != nil {
			return err
		}
		for i := 0; i < 1000; i++ {
			if _, err := st.Exec(fmt.Sprint("n", i), float64(i), []byte("x\ty")); err != nil {
				return err
			}
		}
		if _, err := st.Exec(); err != nil {
			return err
		}
		if err := st.Close(); err != nil {
			return err
		}
		if err := tx.Commit(); err != nil {
			return err
		}
		var n int
		if err := db.QueryRow(`SELECT count(*) FROM t`).Scan(&n); err != nil {
			return err
		}
		return eq(n, 1001)
	})
	step("lib/pq: errors", func() error {
		_, err := db.Exec(`INSERT INTO t(id) VALUES (1)`)
		var e *pq.Error
		if !errors.As(err, &e) {
			return fmt.Errorf("no pq.Error: %v", err)
		}
		return must(eq(e.Code.Name(), "unique_violation"), eq(e.Constraint, "t_pkey"), eq(e.Table, "t"))
	})
	step("lib/pq: listener", func() error {
		l := pq.NewListener(url+"?sslmode=disable", time.Second, time.Minute, nil)
		defer l.Close()
		if err := l.Listen("ch"); err != nil {
			return err
		}
		if _, err := db.Exec(`SELECT pg_notify('ch','hi')`); err != nil {
			return err
		}
		n := <-l.Notify
		return eq(n.Extra, "hi")
	})
	step("lib/pq: cancellation by context", func() error {
		c, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		defer cancel()
		_, err := db.ExecContext(c, `SELECT pg_sleep(20)`)
		if err == nil {
			return fmt.Errorf("no error")
		}
		return nil
	})
	step("database/sql: read only serializable transactions, column types, several result sets", func() error {
		tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelSerializable, ReadOnly: true})
		if err != nil {
			return err
		}
		_, err = tx.Exec(`INSERT INTO t(name) VALUES('no')`)
		var e *pq.Error
		if !errors.As(err, &e) {
			return fmt.Errorf("no error")
		}
		tx.Rollback()
		rows, err := db.Query(`SELECT 1::int8 AS a, 'x'::varchar(5) AS b, 1.5::numeric(5,2) AS c`)
		if err != nil {
			return err
		}
		defer rows.Close()
		ts, _ := rows.ColumnTypes()
		p, s, _ := ts[2].DecimalSize()
		ln, _ := ts[1].Length()
		if err := must(eq(e.Code, "25006"), eq(ts[0].DatabaseTypeName(), "INT8"), eq(ln, 5), eq([]int64{p, s}, []int64{5, 2})); err != nil {
			return err
		}
		r2, err := db.Query(`SELECT 1; SELECT 2`)
		if err != nil {
			return err
		}
		defer r2.Close()
		n := 0
		for {
			for r2.Next() {
				n++
			}
			if !r2.NextResultSet() {
				break
			}
		}
		return eq(n, 2)
	})
	pool, err := pgxpool.Connect(ctx, url)
	if err != nil {
		fmt.Println("not ok - pgx connects #", err)
		return
	}
	step("pgx: types in binary", func() error {
		var i4 []int32
		var m map[string]interface{}
		var tm time.Time
		var d pgtype.Date
		var iv pgtype.Interval
		var u pgtype.UUID
		var ip pgtype.Inet
		var nr pgtype.Int4range
		var num pgtype.Numeric
		var h pgtype.TextArray
		var pt pgtype.Point
		var tr pgtype.Tstzrange
		var bits pgtype.Varbit
		var ch pgtype.BPChar
		err := pool.QueryRow(ctx, `SELECT '{1,2}'::int4[], '{"a":1}'::jsonb, now(), '2020-01-01'::date, '1 mon 2 days'::interval, gen_random_uuid(), '10.0.0.1/24'::inet, '[1,5)'::int4range, 12.5::numeric, '{a,NULL}'::text[], '(1,2)'::point, '[2020-01-01,2021-01-01)'::tstzrange, B'101'::varbit, 'x'::char(3)`).Scan(&i4, &m, &tm, &d, &iv, &u, &ip, &nr, &num, &h, &pt, &tr, &bits, &ch)
		if err != nil {
			return err
		}
		return must(eq(i4, []int32{1, 2}), eq(m["a"], 1), eq(iv.Months, 1), eq(nr.Lower.Int, 1))
	})
	step("pgx: a composite type and an enumeration", func() error {
		if _, err := pool.Exec(ctx, `CREATE TYPE mood AS ENUM ('sad','ok'); CREATE TYPE pair AS (a int, b text)`); err != nil {
			return err
		}
		var s string
		var c string
		var a int
		var b *string
		if err := pool.QueryRow(ctx, `SELECT $1::mood, 'ok'::mood`, "sad").Scan(&s, &c); err != nil {
			return err
		}
		if err := pool.QueryRow(ctx, `SELECT ROW(1,'z')::pair`, pgx.QueryResultFormats{pgx.BinaryFormatCode}).Scan(pgtype.CompositeFields{&a, &b}); err != nil {
			return err
		}
		return must(eq(s, "sad"), eq(a, 1), eq(*b, "z"))
	})
	step("pgx: CopyFrom in binary", func() error {
		rows := [][]interface{}{}
		for i := 0; i < 5000; i++ {
			rows = append(rows, []interface{}{fmt.Sprint("c", i), float64(i), []string{"q"}, time.Now(), true})
		}
		n, err := pool.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"name", "f", "tags", "at", "ok"}, pgx.CopyFromRows(rows))
		if err != nil {
			return err
		}
		return eq(n, 5000)
	})
	step("pgx: batch, also with an error in it", func() error {
		b := &pgx.Batch{}
		b.Queue(`INSERT INTO t(name) VALUES($1)`, "b1")
		b.Queue(`SELECT count(*) FROM t WHERE name=$1`, "b1")
		r := pool.SendBatch(ctx, b)
		if _, err := r.Exec(); err != nil {
			return err
		}
		var n int
		if err := r.QueryRow().Scan(&n); err != nil {
			return err
		}
		if err := r.Close(); err != nil {
			return err
		}
		b = &pgx.Batch{}
		b.Queue(`INSERT INTO t(name) VALUES('gone')`)
		b.Queue(`SELECT 1/0`)
		r = pool.SendBatch(ctx, b)
		_, e1 := r.Exec()
		_, e2 := r.Exec()
		r.Close()
		var pe *pgconn.PgError
		if e1 != nil || !errors.As(e2, &pe) {
			return fmt.Errorf("%v %v", e1, e2)
		}
		var g int
		pool.QueryRow(ctx, `SELECT count(*) FROM t WHERE name='gone'`).Scan(&g)
		return must(eq(n, 1), eq(pe.Code, "22012"), eq(g, 0))
	})
	step("pgx: nested transactions, isolation, BeginFunc", func() error {
		return pool.BeginTxFunc(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, DeferrableMode: pgx.Deferrable}, func(tx pgx.Tx) error {
			in, err := tx.Begin(ctx)
			if err != nil {
				return err
			}
			if _, err := in.Exec(ctx, `SELECT nope`); err == nil {
				return fmt.Errorf("no error")
			}
			if err := in.Rollback(ctx); err != nil {
				return err
			}
			_, err = tx.Exec(ctx, `SELECT 1`)
			return err
		})
	})
	step("pgx: large objects", func() error {
		return pool.BeginFunc(ctx, func(tx pgx.Tx) error {
			los := tx.LargeObjects()
			id, err := los.Create(ctx, 0)
			if err != nil {
				return err
			}
			o, err := los.Open(ctx, id, pgx.LargeObjectModeWrite|pgx.LargeObjectModeRead)
			if err != nil {
				return err
			}
			if _, err := o.Write([]byte("hello large world")); err != nil {
				return err
			}
			if _, err := o.Seek(6, 0); err != nil {
				return err
			}
			buf := make([]byte, 5)
			if _, err := o.Read(buf); err != nil {
				return err
			}
			if err := o.Close(); err != nil {
				return err
			}
			if err := los.Unlink(ctx, id); err != nil {
				return err
			}
			return eq(string(buf), "large")
		})
	})
	step("pgx: simple protocol, describe, exec mode, notifications", func() error {
		c, err := pool.Acquire(ctx)
		if err != nil {
			return err
		}
		defer c.Release()
		var s string
		if err := c.QueryRow(ctx, `SELECT $1::text || 'x'`, pgx.QuerySimpleProtocol(true), "it's").Scan(&s); err != nil {
			return err
		}
		sd, err := c.Conn().Prepare(ctx, "ps", `SELECT * FROM t WHERE id = $1 AND name = $2`)
		if err != nil {
			return err
		}
		if _, err := c.Exec(ctx, "LISTEN ch2"); err != nil {
			return err
		}
		if _, err := c.Exec(ctx, "NOTIFY ch2, 'yo'"); err != nil {
			return err
		}
		n, err := c.Conn().WaitForNotification(ctx)
		if err != nil {
			return err
		}
		return must(eq(s, "it'sx"), eq(sd.ParamOIDs, []uint32{23, 25}), eq(n.Payload, "yo"))
	})
}
