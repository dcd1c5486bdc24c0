CREATE TABLE projects (project_id int PRIMARY KEY, title text, started_on date, budget numeric, spent numeric);
CREATE TABLE developers (dev_id int PRIMARY KEY, dev_name text, team text, hourly_rate numeric);
CREATE TABLE tickets (ticket_id int PRIMARY KEY, project_id int REFERENCES projects, assignee_id int REFERENCES developers, summary text, priority text, state text, created_at timestamp, closed_at timestamp, estimate_hours int, actual_hours int);
CREATE TABLE comments (comment_id int PRIMARY KEY, ticket_id int REFERENCES tickets, author_id int REFERENCES developers, body text, written_at timestamp);
INSERT INTO projects VALUES (1,'Atlas','2021-02-01',50000,61000),(2,'Borealis','2022-06-15',80000,42000),(3,'Cobalt','2023-01-10',30000,29000),(4,'Dune','2024-03-01',10000,12000);
INSERT INTO developers SELECT i, (ARRAY['Aylin','Bruno','Chen','Dora','Emil','Fiona','Goran','Hana'])[i], (ARRAY['core','web','data'])[1 + i % 3], 40 + i * 5 FROM generate_series(1, 8) i;
INSERT INTO tickets SELECT i, 1 + i % 3, CASE WHEN i % 6 = 0 THEN NULL ELSE 1 + i * i % 7 END, 'Ticket number ' || i, (ARRAY['low','medium','high','critical'])[1 + i % 4], (ARRAY['open','closed','in progress'])[1 + i % 3 * (i % 2)], now()::timestamp - i * interval '5 days', CASE WHEN i % 2 = 0 THEN now()::timestamp - i * interval '4 days' END, 2 + i % 9, 1 + i * 3 % 12 FROM generate_series(1, 90) i;
INSERT INTO comments SELECT i, 1 + i * 3 % 70, 1 + i % 6, 'Comment text ' || i, now()::timestamp - i * interval '31 hours' FROM generate_series(1, 120) i;
