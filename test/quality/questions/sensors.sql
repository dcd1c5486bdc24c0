CREATE TABLE building (bld_id int PRIMARY KEY, bld_name text, campus text, floors int);
CREATE TABLE device (dev_id int PRIMARY KEY, bld_id int REFERENCES building, serial text, vendor text, fw_version text, installed_at date, retired_at date, battery_pct int);
CREATE TABLE sensor (sensor_id int PRIMARY KEY, dev_id int REFERENCES device, kind text, unit text, min_ok numeric, max_ok numeric);
CREATE TABLE measurement (meas_id int PRIMARY KEY, sensor_id int REFERENCES sensor, ts timestamp, value numeric, is_valid boolean);
CREATE TABLE alert (alert_id int PRIMARY KEY, sensor_id int REFERENCES sensor, raised_ts timestamp, acked_ts timestamp, level text);
INSERT INTO building VALUES (1,'Aspen House','North',4),(2,'Birch Hall','North',2),(3,'Cedar Lab','South',6),(4,'Dogwood','South',3),(5,'Elm Annex','West',1);
INSERT INTO device SELECT i, 1 + (i * 3 + i / 4) % 4, 'SN-' || (1000 + i * 17), (ARRAY['Veltra','Onix','Sensira'])[1 + (i + i / 5) % 3], (ARRAY['1.4','2.0','2.1'])[1 + i * 2 % 3], current_date - 1200 + i * 61, CASE WHEN i % 6 = 0 THEN current_date - i * 5 END, 8 + i * 29 % 93 FROM generate_series(1, 18) i;
INSERT INTO sensor SELECT i, 1 + (i * 5 + i / 6) % 16, (ARRAY['temperature','humidity','co2','pressure'])[1 + (i + i / 7) % 4], (ARRAY['C','%','ppm','hPa'])[1 + (i + i / 7) % 4], 10 + i % 4, 24 + i * 5 % 17 FROM generate_series(1, 30) i;
INSERT INTO measurement SELECT i, 1 + (i * 7 + i / 10) % 27, now()::timestamp - i * interval '11 hours', 6 + (i * 41 % 380) / 10.0, i % 13 <> 5 FROM generate_series(1, 240) i;
INSERT INTO alert SELECT i, 1 + (i * 11 + i / 4) % 24, now()::timestamp - i * interval '31 hours', CASE WHEN i % 3 <> 1 THEN now()::timestamp - i * interval '31 hours' + i * interval '9 minutes' END, (ARRAY['info','warning','critical'])[1 + (i * 2 + i / 6) % 3] FROM generate_series(1, 55) i
