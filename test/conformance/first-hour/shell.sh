set -e
# The shell: a file becomes a collection; it is searched, chatted with, and queried as a table.
$TESSERA import trips.csv --embed text | grep "3 rows into trips"
$TESSERA search trips 'when does the boat leave' --limit 1 | grep ferry
$TESSERA chat --collection trips 'When does the bakery open?' | grep 'opens at six'
$TESSERA sql --format csv 'SELECT title FROM trips WHERE year < 1900' | grep Lighthouse
