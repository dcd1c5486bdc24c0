CREATE TABLE hotel (id int PRIMARY KEY, name text NOT NULL, city text, stars int);
CREATE TABLE room (id int PRIMARY KEY, hotel_id int REFERENCES hotel, number text, kind text, price numeric, capacity int);
CREATE TABLE guest (id int PRIMARY KEY, full_name text, country text, email text, birth_date date);
CREATE TABLE stay (id int PRIMARY KEY, guest_id int REFERENCES guest, room_id int REFERENCES room, check_in date, check_out date, total numeric, status text);
INSERT INTO hotel VALUES (1,'Seaview','Lisbon',4),(2,'Alpina','Zurich',5),(3,'Central','Vienna',3),(4,'Old Mill','Ghent',3);
INSERT INTO room SELECT i, 1 + i % 3, (100 + i)::text, (ARRAY['single','double','suite'])[1 + i % 3 * (i % 2)], 60 + 7 * (i % 11), 1 + i % 4 FROM generate_series(1, 30) i;
INSERT INTO guest SELECT i, (ARRAY['Ann Bell','Carl Dorn','Eva Falk','Gus Hill','Ida Jansen','Kurt Lang','Mia Nord','Olaf Post','Rita Sand','Tom Urban'])[i], (ARRAY['Norway','Italy','Japan'])[1 + i % 3], 'g' || i || '@example.com', date '1960-05-01' + i * 1000 FROM generate_series(1, 10) i;
INSERT INTO stay SELECT i, 1 + i * i % 9, 1 + i * 7 % 29, current_date - i * 9, current_date - i * 9 + 1 + i % 5, 80 + 13 * (i % 17) + i, (ARRAY['booked','finished','cancelled','finished'])[1 + i % 4] FROM generate_series(1, 80) i;
