CREATE TABLE doctor (
  doctor_id int PRIMARY KEY, full_name text NOT NULL, specialty text, years_experience int, email text
);
CREATE TABLE patient (
  patient_id int PRIMARY KEY, full_name text NOT NULL, date_of_birth date, sex char(1), insurer text, city text, weight_kg real
);
CREATE TABLE appointment (
  appointment_id int PRIMARY KEY, doctor_id int REFERENCES doctor, patient_id int REFERENCES patient,
  starts_at timestamp, duration_minutes int, fee numeric(7,2), status text
);
CREATE TABLE medication (medication_id int PRIMARY KEY, brand_name text, manufacturer text, unit_cost numeric(6,2));
CREATE TABLE prescription (
  prescription_id int PRIMARY KEY, patient_id int REFERENCES patient, doctor_id int REFERENCES doctor,
  medication_id int REFERENCES medication, issued_on date, dosage_mg int, refills int
);
INSERT INTO doctor VALUES
  (1, 'Dr. Nadia Petrov', 'Cardiology', 21, 'petrov@clinic.example'), (2, 'Dr. Luis Mendez', 'Dermatology', 9, 'mendez@clinic.example'),
  (3, 'Dr. Yuki Tanaka', 'Pediatrics', 14, 'tanaka@clinic.example'), (4, 'Dr. Robert Stone', 'Cardiology', 30, NULL),
  (5, 'Dr. Amina Diallo', 'Neurology', 6, 'diallo@clinic.example');
INSERT INTO patient VALUES
  (1, 'Paul Adler', '1958-04-12', 'M', 'Aetna', 'Boston', 88.5), (2, 'Maria Silva', '1985-09-03', 'F', 'Cigna', 'Cambridge', 61.2),
  (3, 'Kevin Wu', '2012-01-25', 'M', 'Aetna', 'Boston', 38.0), (4, 'Susan Cole', '1949-12-30', 'F', 'Humana', 'Quincy', 70.4),
  (5, 'Igor Pavlov', '1979-06-17', 'M', NULL, 'Boston', 95.1), (6, 'Rita Gomez', '1992-03-09', 'F', 'Cigna', 'Newton', 58.9),
  (7, 'Noah Berg', '2016-08-21', 'M', 'Humana', 'Cambridge', 22.7), (8, 'Olga Ivanova', '1967-11-02', 'F', 'Aetna', 'Boston', 74.3);
INSERT INTO appointment VALUES
  (1, 1, 1, '2024-01-15 09:00', 30, 180.00, 'completed'), (2, 1, 4, '2024-01-15 10:00', 45, 240.00, 'completed'),
  (3, 2, 2, '2024-02-02 14:30', 20, 95.00, 'completed'), (4, 3, 3, '2024-02-20 08:15', 25, 80.00, 'no-show'),
  (5, 3, 7, '2024-03-05 11:00', 30, 85.00, 'completed'), (6, 4, 8, '2024-03-05 16:00', 60, 320.00, 'completed'),
  (7, 5, 5, '2024-04-10 13:00', 50, 210.00, 'cancelled'), (8, 2, 6, '2024-04-22 09:45', 15, 70.00, 'completed'),
  (9, 1, 8, '2024-05-13 15:30', 30, 185.00, 'cancelled'), (10, 4, 1, '2024-06-03 10:30', 40, 260.00, 'completed'),
  (11, 5, 2, '2024-06-18 12:00', 55, 225.00, 'scheduled'), (12, 3, 3, '2024-07-01 09:30', 35, 90.00, 'scheduled'),
  (13, 1, 5, current_date - interval '10 days', 30, 190.00, 'completed'),
  (14, 2, 4, current_date - interval '40 days', 25, 99.00, 'completed'),
  (16, 1, 2, '2023-12-04 10:00', 30, 175.00, 'completed'),
  (15, 3, 7, current_date + interval '12 hours', 20, 84.00, 'scheduled');
INSERT INTO medication VALUES
  (1, 'Cardivex', 'Norvik', 4.20), (2, 'Dermolan', 'Bayside', 11.75), (3, 'Paedex', 'Norvik', 2.10),
  (4, 'Neurotol', 'Helix Labs', 32.00), (5, 'Lipidan', 'Bayside', 6.60);
INSERT INTO prescription VALUES
  (1, 1, 1, 1, '2024-01-15', 50, 3), (2, 4, 1, 5, '2024-01-15', 20, 6), (3, 2, 2, 2, '2024-02-02', 10, 0),
  (4, 7, 3, 3, '2024-03-05', 5, 1), (5, 8, 4, 1, '2024-03-05', 100, 12), (6, 6, 2, 2, '2024-04-22', 15, 2),
  (7, 1, 4, 5, '2024-06-03', 40, 6), (8, 5, 1, 1, '2024-06-20', 75, 4), (9, 2, 5, 4, '2024-06-18', 200, 1);
