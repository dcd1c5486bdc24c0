CREATE TABLE departments (id int PRIMARY KEY, name text NOT NULL, building text, budget numeric(12,2));
CREATE TABLE teachers (
  id int PRIMARY KEY, name text NOT NULL, department_id int REFERENCES departments, salary int, hired_on date
);
CREATE TABLE students (
  id int PRIMARY KEY, name text NOT NULL, birth_date date, gender text, gpa numeric(3,2), enrolled_year int,
  scholarship boolean
);
CREATE TABLE courses (
  id int PRIMARY KEY, title text NOT NULL, credits int, department_id int REFERENCES departments,
  teacher_id int REFERENCES teachers
);
CREATE TABLE enrollments (
  student_id int REFERENCES students, course_id int REFERENCES courses, semester text, grade numeric(4,1),
  PRIMARY KEY (student_id, course_id)
);
INSERT INTO departments VALUES
  (1, 'Mathematics', 'Euler Hall', 310000), (2, 'Physics', 'Curie Building', 520000),
  (3, 'History', 'Old Library', 140000), (4, 'Computer Science', 'Turing Building', 610000), (5, 'Music', 'Old Library', 90000);
INSERT INTO teachers VALUES
  (1, 'Marta Vogel', 1, 68000, '2009-09-01'), (2, 'Samuel Okoro', 1, 54000, '2018-02-15'),
  (3, 'Irene Castillo', 2, 72000, '2005-03-01'), (4, 'Piotr Nowak', 2, 61000, '2014-10-01'),
  (5, 'Helen Marsh', 3, 50500, '2020-01-07'), (6, 'Grace Lin', 4, 83000, '2012-08-20'),
  (7, 'Omar Haddad', 4, 77500, '2016-04-11'), (8, 'Lucy Bell', 4, 58000, '2021-09-01'), (9, 'Tom Ward', NULL, 45000, '2022-11-30');
INSERT INTO students VALUES
  (1, 'Alice Brown', '2003-02-11', 'female', 3.80, 2021, true), (2, 'Ben Clark', '2002-07-30', 'male', 2.95, 2020, false),
  (3, 'Carla Diaz', '2004-01-05', 'female', 3.45, 2022, false), (4, 'Daniel Evans', '2003-11-23', 'male', 3.10, 2021, true),
  (5, 'Emma Foster', '2001-05-16', 'female', 3.99, 2019, true), (6, 'Frank Green', '2002-12-02', 'male', 2.40, 2020, false),
  (7, 'Gina Hall', '2004-08-19', 'female', 3.66, 2022, false), (8, 'Henry Irving', '2003-04-27', 'male', 3.25, 2021, false),
  (9, 'Isla Jones', '2005-03-08', 'female', 2.88, 2023, false), (10, 'Jack King', '2004-10-14', 'male', 3.52, 2022, true),
  (11, 'Karen Lowe', '2005-06-01', 'female', 3.01, 2023, false), (12, 'Liam Moore', '2001-09-09', 'male', 3.71, 2019, false);
INSERT INTO courses VALUES
  (1, 'Linear Algebra', 6, 1, 1), (2, 'Statistics', 4, 1, 2), (3, 'Mechanics', 6, 2, 3), (4, 'Optics', 3, 2, 4),
  (5, 'Ancient Rome', 3, 3, 5), (6, 'Databases', 5, 4, 6), (7, 'Operating Systems', 6, 4, 7), (8, 'Machine Learning', 5, 4, 6),
  (9, 'Choir', 2, 5, NULL), (10, 'Number Theory', 4, 1, 1);
INSERT INTO enrollments VALUES
  (1, 1, 'Fall 2023', 91.0), (1, 6, 'Spring 2024', 88.5), (1, 8, 'Spring 2024', 95.0), (2, 2, 'Fall 2023', 61.0),
  (2, 3, 'Fall 2023', 58.5), (3, 5, 'Spring 2024', 79.0), (3, 6, 'Fall 2023', 83.0), (4, 1, 'Fall 2023', 70.5),
  (4, 7, 'Spring 2024', 74.0), (5, 1, 'Fall 2023', 98.0), (5, 2, 'Spring 2024', 97.0), (5, 8, 'Spring 2024', 99.5),
  (6, 4, 'Fall 2023', 45.0), (7, 6, 'Spring 2024', 86.0), (7, 7, 'Spring 2024', 81.5), (8, 3, 'Fall 2023', 77.0),
  (8, 4, 'Spring 2024', NULL), (9, 5, 'Spring 2024', 66.0), (10, 6, 'Spring 2024', 90.0), (10, 8, 'Spring 2024', 87.0),
  (11, 6, 'Fall 2023', 75.0), (12, 7, 'Fall 2023', 92.0), (12, 1, 'Fall 2023', 84.0);
