CREATE TABLE "Households" ("HouseholdId" int PRIMARY KEY, "OwnerName" text, "PostCode" text, "Occupants" int, "HasSolar" boolean);
CREATE TABLE "Meters" ("MeterId" int PRIMARY KEY, "HouseholdId" int, "MeterType" text, "InstalledOn" date, "SerialNo" text);
CREATE TABLE "Readings" ("ReadingId" int PRIMARY KEY, "MeterId" int, "ReadAt" timestamp, "Kwh" numeric, "PeakKwh" numeric);
CREATE TABLE "Bills" ("BillId" int PRIMARY KEY, "HouseholdId" int, "BilledOn" date, "DueOn" date, "PaidOn" date, "TotalAmount" numeric);
INSERT INTO "Households" SELECT i, (ARRAY['Aas','Bohm','Cole','Diaz','Egan','Fink','Gray','Hale','Ivey'])[i], (ARRAY['1010','2020','3030'])[1 + (i * 5 + i / 3) % 3], 1 + i * 3 % 7, i % 3 = 0 FROM generate_series(1, 9) i;
INSERT INTO "Meters" SELECT i, 1 + (i * 5 + i / 3) % 8, (ARRAY['power','gas'])[1 + i % 2], DATE '2017-05-01' + i * 170, 'M-' || lpad(i::text, 3, '0') FROM generate_series(1, 14) i;
INSERT INTO "Readings" SELECT i, 1 + i % 12, TIMESTAMP '2024-06-01 06:00' + i * interval '101 hours', 20 + i * 37 % 180, 5 + i * 23 % 70 FROM generate_series(1, 110) i;
INSERT INTO "Bills" SELECT i, 1 + i * 3 % 7, current_date - i * 24, current_date - i * 24 + 14, CASE WHEN i % 5 <> 0 THEN current_date - i * 24 + i * 7 % 20 END, 60 + i * 71 % 300 FROM generate_series(1, 40) i;
INSERT INTO "Households" VALUES (10, 'Jonas', '2020', 8, false);
