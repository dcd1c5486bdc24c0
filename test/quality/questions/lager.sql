CREATE TABLE kunde (kd_nr int PRIMARY KEY, kd_name text, ort text, land text, seit date);
CREATE TABLE artikel (art_nr int PRIMARY KEY, bez text, warengruppe text, preis numeric, bestand int, mind_bestand int);
CREATE TABLE rechnung (re_nr int PRIMARY KEY, kd_nr int REFERENCES kunde, re_datum date, bezahlt boolean, betrag numeric);
CREATE TABLE re_pos (pos_nr int PRIMARY KEY, re_nr int REFERENCES rechnung, art_nr int REFERENCES artikel, menge int, einzelpreis numeric);
INSERT INTO kunde SELECT i, (ARRAY['Alt GmbH','Brandt KG','Cordes','Dierks','Ebel OHG','Fock','Goos','Harms'])[i], (ARRAY['Bremen','Kiel','Graz'])[1 + i % 3], (ARRAY['DE','DE','AT'])[1 + i % 3], DATE '2018-01-15' + i * 200 FROM generate_series(1, 8) i;
INSERT INTO artikel SELECT i, (ARRAY['Schraube M6','Mutter M6','Winkel','Duebel 8','Dichtung','Rohr 2m','Flansch','Kleber','Folie','Band'])[i], (ARRAY['Metall','Kunststoff'])[1 + i % 2], 2 + i * 13 % 37, i * 23 % 46, 10 + i * 7 % 20 FROM generate_series(1, 10) i;
INSERT INTO rechnung SELECT i, 1 + (i * 5 + i / 3) % 7, DATE '2024-02-01' + i * 17, i % 4 <> 0, 120 + i * 733 % 1500 FROM generate_series(1, 40) i;
INSERT INTO re_pos SELECT i, 1 + i % 40, 1 + i * 3 % 8, 1 + i * 7 % 12, 3 + i * 11 % 30 FROM generate_series(1, 90) i;
INSERT INTO artikel VALUES (11, 'Oese', 'Metall', 5, 12, 9);
