CREATE TABLE "Branch" ("branchId" int PRIMARY KEY, "branchName" text, "city" text);
CREATE TABLE "Account" ("accountId" int PRIMARY KEY, "branchId" int REFERENCES "Branch", "holderName" text, "accountType" text, "balance" numeric, "creditLimit" numeric, "openedOn" date);
CREATE TABLE "Transfer" ("transferId" int PRIMARY KEY, "accountId" int REFERENCES "Account", "amount" numeric, "currency" text, "bookedOn" date, "channel" text);
INSERT INTO "Branch" VALUES (1,'Harbour','Aarhus'),(2,'Station','Odense'),(3,'Market','Aalborg'),(4,'Airport','Aarhus');
INSERT INTO "Account" SELECT i, 1 + i % 3, (ARRAY['Frida','Magnus','Signe','Viggo','Astrid','Emil','Liv','Oskar','Ella','Noah','Alma','Karl','Ida','Max'])[i], (ARRAY['savings','current','business'])[1 + i % 3], 150 * i * i % 9000, 2000 + 500 * (i % 4), date '2016-07-01' + i * 190 FROM generate_series(1, 14) i;
INSERT INTO "Transfer" SELECT i, 1 + i * i % 13, 10 + i * 53 % 2000, (ARRAY['DKK','EUR'])[1 + i % 2], current_date - i * 5, (ARRAY['app','branch','web'])[1 + i % 3] FROM generate_series(1, 130) i;
