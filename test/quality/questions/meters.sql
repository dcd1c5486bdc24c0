CREATE TABLE tbl_site (site_pk int PRIMARY KEY, site_label text, region text, sq_m numeric, commissioned date);
CREATE TABLE tbl_meter (meter_pk int PRIMARY KEY, site_fk int, serial text, medium text, unit text, is_main bit);
CREATE TABLE tbl_reading (reading_pk int PRIMARY KEY, meter_fk int, read_at timestamp, consumption numeric, quality_flag char(1));
CREATE TABLE tbl_alarm (alarm_pk int PRIMARY KEY, meter_fk int, raised_at timestamp, cleared_at timestamp, severity int, message text);
CREATE VIEW vw_site_consumption AS SELECT s.site_label, m.medium, sum(r.consumption) AS total_consumption FROM tbl_site s JOIN tbl_meter m ON m.site_fk = s.site_pk JOIN tbl_reading r ON r.meter_fk = m.meter_pk GROUP BY s.site_label, m.medium;
INSERT INTO tbl_site SELECT i, (ARRAY['Mill','Depot','Tower','Annex','Foundry','Library','Pool'])[i], (ARRAY['north','south','coast'])[1 + i % 3], 300 + i * 1370 % 4000, date '2009-01-15' + i * 500 FROM generate_series(1, 7) i;
INSERT INTO tbl_meter SELECT i, 1 + (i * 2) % 6, 'SN-' || (7000 + i * 31), (ARRAY['electricity','gas','water','heat'])[1 + i % 4], (ARRAY['kWh','m3','m3','kWh'])[1 + i % 4], CASE WHEN i <= 6 THEN B'1' ELSE B'0' END FROM generate_series(1, 20) i;
INSERT INTO tbl_reading SELECT i, 1 + i * 7 % 18, current_date::timestamp - i * interval '41 hours', 5 + i * 97 % 700, (ARRAY['A','A','A','E'])[1 + i * 3 % 4] FROM generate_series(1, 240) i;
INSERT INTO tbl_alarm SELECT i, 1 + i * 5 % 16, current_date::timestamp - i * interval '5 days 3 hours', CASE WHEN i % 5 <> 0 THEN current_date::timestamp - i * interval '5 days 3 hours' + i % 9 * interval '2 hours' END, 1 + i * 2 % 3, (ARRAY['leak suspected','no signal','low battery','overload'])[1 + i % 4] FROM generate_series(1, 40) i;
