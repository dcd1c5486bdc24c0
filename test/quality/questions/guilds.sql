CREATE TABLE players (id bigint PRIMARY KEY, nickname text, country_code char(2), level int, created_at timestamp, last_login_at timestamp, is_banned boolean);
CREATE TABLE guilds (id bigint PRIMARY KEY, name text, leader_id bigint REFERENCES players, founded_at date);
CREATE TABLE guild_members (guild_id bigint REFERENCES guilds, player_id bigint REFERENCES players, joined_at date, rank text, PRIMARY KEY (guild_id, player_id));
CREATE TABLE matches (id bigint PRIMARY KEY, map text, mode text, started_at timestamp, ended_at timestamp);
CREATE TABLE match_players (match_id bigint REFERENCES matches, player_id bigint REFERENCES players, kills int, deaths int, won boolean, PRIMARY KEY (match_id, player_id));
CREATE TABLE items (id bigint PRIMARY KEY, name text, rarity text, price_coins int);
CREATE TABLE purchases (id bigint PRIMARY KEY, player_id bigint REFERENCES players, item_id bigint REFERENCES items, quantity int, bought_at timestamp);
INSERT INTO players SELECT i, (ARRAY['ace','bolt','crow','dusk','echo','frost','ghost','hawk','ivy','jinx','kite','lynx'])[i], (ARRAY['DE','FR','US','JP'])[1 + (i * i + i / 3) % 4], 3 + (i * 17) % 47, timestamp '2024-02-01' + i * interval '23 days', timestamp '2025-06-30' - i * i * interval '37 hours', i IN (5, 9) FROM generate_series(1, 12) i;
INSERT INTO guilds VALUES (1,'Night Owls',2,'2024-05-01'),(2,'Iron Pact',4,'2024-08-12'),(3,'Sunriders',7,'2025-01-20'),(4,'Ghost Town',11,'2025-03-03');
INSERT INTO guild_members VALUES (1,1,'2024-05-02','member'),(1,2,'2024-05-01','leader'),(1,3,'2024-07-11','officer'),(1,6,'2025-02-01','member'),(2,4,'2024-08-12','leader'),(2,5,'2024-09-01','member'),(2,8,'2025-01-05','officer'),(3,7,'2025-01-20','leader'),(3,10,'2025-02-14','member');
INSERT INTO matches SELECT i, (ARRAY['canyon','harbor','ruins'])[1 + (i * 2 + i / 4) % 3], (ARRAY['duel','team','royale'])[1 + (i + i / 5) % 3], timestamp '2025-05-01 18:00' + i * interval '29 hours', timestamp '2025-05-01 18:00' + i * interval '29 hours' + ((7 + (i * 11) % 34) * interval '1 minute') FROM generate_series(1, 30) i;
INSERT INTO match_players SELECT m, p, (m * 5 + p * 7) % 19, (m * 3 + p * 5 + m / 4) % 13, (m + p) % 3 = 0 FROM generate_series(1, 30) m, generate_series(1, 11) p WHERE (m * p + m + p / 2) % 4 = 0;
INSERT INTO items VALUES (1,'Oak Bow','common',120),(2,'Steel Axe','common',150),(3,'Silver Ring','rare',640),(4,'Fire Staff','epic',1800),(5,'Dragon Helm','legendary',5200),(6,'Leaf Cape','rare',480);
INSERT INTO purchases SELECT i, 1 + (i * i + i / 5) % 10, 1 + (i * 2 + i / 4) % 5, 1 + (i * 7) % 4, timestamp '2025-04-02 12:00' + i * interval '41 hours' FROM generate_series(1, 45) i
