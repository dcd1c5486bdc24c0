CREATE TABLE rgn (rgn_cd text PRIMARY KEY, rgn_nm text, ctry text);
CREATE TABLE vyd (vyd_id int PRIMARY KEY, vyd_nm text, rgn_cd text, area_ha numeric, elev_m int);
CREATE TABLE var_lk (var_cd text PRIMARY KEY, var_desc text, clr text);
CREATE TABLE wine (wine_id int PRIMARY KEY, wine_nm text, var_cd text, vyd_id int, vintage int, alc_pct numeric, btl_prc numeric, stk_qty int);
CREATE TABLE cust_typ (typ_cd text PRIMARY KEY, typ_desc text);
CREATE TABLE cust (cust_id int PRIMARY KEY, cust_nm text, typ_cd text, city text);
CREATE TABLE sale (sale_id int PRIMARY KEY, cust_id int, wine_id int, sale_dt date, qty int, unit_prc numeric, chnl text);
CREATE TABLE tasting (tst_id int PRIMARY KEY, wine_id int, judge_nm text, pts int, tst_dt date);
INSERT INTO rgn VALUES ('MOS','Mosel','Germany'),('RIO','Rioja','Spain'),('TUS','Tuscany','Italy'),('DOU','Douro','Portugal');
INSERT INTO vyd VALUES (1,'Steinhang','MOS',12.5,210),(2,'Alto Prado','RIO',48,520),(3,'Poggio Rosso','TUS',33,310),(4,'Quinta Velha','DOU',61.5,440),(5,'Klosterberg','MOS',8,260),(6,'La Loma','RIO',27,610);
INSERT INTO var_lk VALUES ('RIE','Riesling','white'),('TEM','Tempranillo','red'),('SAN','Sangiovese','red'),('TOU','Touriga Nacional','red'),('GAR','Garnacha','red'),('VIU','Viura','white');
INSERT INTO wine VALUES (1,'Steinhang Kabinett','RIE',1,2021,8.5,14.5,320),(2,'Steinhang Auslese','RIE',1,2019,7.5,38,45),(3,'Prado Reserva','TEM',2,2018,14,27,150),(4,'Prado Crianza','TEM',2,2020,13.5,12.9,610),(5,'Rosso Classico','SAN',3,2020,13,19,275),(6,'Rosso Riserva','SAN',3,2017,14.5,44,60),(7,'Velha Tinto','TOU',4,2019,14,16.5,400),(8,'Velha Reserva','TOU',4,2016,15,52,0),(9,'Kloster Trocken','RIE',5,2022,11.5,11,500),(10,'Loma Blanca','VIU',6,2022,12,9.5,720),(11,'Loma Tinta','GAR',6,2021,14,13.5,0),(12,'Prado Joven','TEM',2,2022,13,8.2,840);
INSERT INTO cust_typ VALUES ('R','restaurant'),('S','shop'),('P','private buyer');
INSERT INTO cust VALUES (1,'Bistro Nord','R','Hamburg'),(2,'Weinhaus Krug','S','Mainz'),(3,'Ada Lund','P','Oslo'),(4,'Trattoria Blu','R','Munich'),(5,'Cave du Coin','S','Metz'),(6,'Per Holm','P','Oslo'),(7,'Hotel Adler','R','Mainz'),(8,'Ines Vidal','P','Porto'),(9,'Vinothek Süd','S','Munich');
INSERT INTO sale SELECT i, 1 + (i * 5 + i / 7) % 8, 1 + (i * 7 + i / 4) % 11, DATE '2024-01-03' + i * 9, 1 + i * 11 % 24, round((8 + i * 37 % 400) / 10.0 + 4, 2), (ARRAY['web','phone','cellar'])[1 + (i + i / 3) % 3] FROM generate_series(1, 80) i;
INSERT INTO tasting SELECT i, 1 + (i * 3 + i / 5) % 10, (ARRAY['M. Keller','R. Soto','J. Lindqvist'])[1 + (i + i / 4) % 3], 82 + i * 7 % 17, DATE '2025-02-01' + i * 5 FROM generate_series(1, 36) i
