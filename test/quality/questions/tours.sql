CREATE TABLE tbl_guest (guest_no int PRIMARY KEY, first_name text, last_name text, nationality text, birth_date date);
CREATE TABLE tbl_guide (guide_no int PRIMARY KEY, guide_name text, main_language text, day_rate numeric);
CREATE TABLE tbl_tour (tour_no int PRIMARY KEY, tour_title text, region text, duration_days int, list_price numeric, max_guests int, guide_no int REFERENCES tbl_guide);
CREATE TABLE tbl_departure (dep_no int PRIMARY KEY, tour_no int REFERENCES tbl_tour, start_date date, is_cancelled boolean);
CREATE TABLE tbl_booking (booking_no int PRIMARY KEY, dep_no int REFERENCES tbl_departure, guest_no int REFERENCES tbl_guest, booked_on date, price_paid numeric, rating int);
INSERT INTO tbl_guest VALUES (1,'Anna','Berg','Norwegian','1980-04-02'),(2,'Boris','Cech','Czech','1975-11-30'),(3,'Chiara','Deluca','Italian','1992-07-14'),(4,'Daan','Evers','Dutch','1988-01-09'),(5,'Elif','Feray','Turkish','1999-09-21'),(6,'Fergus','Gill','Irish','1965-03-03'),(7,'Gina','Horvat','Italian','2001-12-25'),(8,'Hans','Iversen','Norwegian','1971-06-18'),(9,'Ines','Jorge','Portuguese','1995-10-10');
INSERT INTO tbl_guide VALUES (1,'Kofi Lund','English',180),(2,'Lara Mont','Italian',150),(3,'Marek Novy','German',165),(4,'Nadia Orlov','English',210);
INSERT INTO tbl_tour VALUES (1,'Fjord Hike','Norway',6,1450,10,1),(2,'Tuscan Tables','Italy',4,980,12,2),(3,'Alpine Huts','Austria',7,1320,8,3),(4,'Lisbon Walks','Portugal',2,320,15,2),(5,'Arctic Lights','Norway',5,1890,8,1),(6,'Black Forest Ride','Germany',3,540,14,3),(7,'Sicily by Boat','Italy',8,2100,6,NULL);
INSERT INTO tbl_departure SELECT i, 1 + (i * 2 + i / 4) % 6, date '2025-02-01' + i * 12, i % 6 = 0 FROM generate_series(1, 20) i;
INSERT INTO tbl_booking SELECT i, 1 + (i * 7 + i / 5) % 19, 1 + (i * i + i / 3) % 8, date '2024-09-03' + i * 5, 250 + (i * 91) % 1600, CASE WHEN i % 4 = 0 THEN NULL ELSE 1 + (i * 3 + i / 2) % 5 END FROM generate_series(1, 55) i
