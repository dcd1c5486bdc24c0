CREATE TABLE drivers (id int PRIMARY KEY, name text, licence text, hired date);
CREATE TABLE trucks (id int PRIMARY KEY, plate text, model text, capacity_kg int, bought date);
CREATE TABLE depots (id int PRIMARY KEY, city text, region text);
CREATE TABLE deliveries (id int PRIMARY KEY, driver_id int REFERENCES drivers, truck_id int REFERENCES trucks, depot_id int REFERENCES depots, delivered date, promised date, weight_kg int, distance_km int, status text, fee numeric);
INSERT INTO drivers SELECT i, (ARRAY['Marek','Nadia','Oscar','Petra','Quinn','Rosa','Stefan'])[i], (ARRAY['C','CE'])[1 + i % 2], date '2012-01-15' + i * 300 FROM generate_series(1, 7) i;
INSERT INTO trucks SELECT i, 'KL-' || 100 + i, (ARRAY['Actros','Volvo FH','TGX'])[1 + i % 3], 8000 + 1000 * (i % 5), date '2015-03-01' + i * 200 FROM generate_series(1, 9) i;
INSERT INTO depots VALUES (1,'Bremen','north'),(2,'Kassel','centre'),(3,'Ulm','south'),(4,'Jena','centre');
INSERT INTO deliveries SELECT i, 1 + i * i % 6, 1 + i * 5 % 8, 1 + i % 3, current_date - i * 6, current_date - i * 6 + (i % 5 - 2), 500 + i * 37 % 4000, 20 + i * 29 % 700, (ARRAY['done','late','failed','done','done'])[1 + i % 5], 50 + i * 11 % 300 FROM generate_series(1, 100) i;
