# Writes public tables as CSV into the folder that is the argument: those of the packages mlbench and caret (Debian:
# r-cran-mlbench, r-cran-caret). The last column is the target. Called by peers.ts.
folder <- commandArgs(trailingOnly = TRUE)[1]
load_data <- function(name, package) {
  place <- new.env()
  data(list = name, package = package, envir = place)
  place
}
write <- function(name, frame, target) {
  frame <- frame[, c(setdiff(names(frame), target), target)]
  frame <- frame[!is.na(frame[[target]]), ]
  write.csv(frame, file.path(folder, paste0(name, ".csv")), row.names = FALSE, na = "")
}
from_mlbench <- function(name, data, target, drop = c()) {
  frame <- load_data(data, "mlbench")[[data]]
  write(name, frame[, setdiff(names(frame), drop)], target)
}
from_mlbench("sonar", "Sonar", "Class")
from_mlbench("pima", "PimaIndiansDiabetes2", "diabetes")
from_mlbench("glass", "Glass", "Type")
from_mlbench("vehicle", "Vehicle", "Class")
from_mlbench("vowel", "Vowel", "Class")
from_mlbench("ionosphere", "Ionosphere", "Class")
from_mlbench("votes", "HouseVotes84", "Class")
from_mlbench("soybean", "Soybean", "Class")
from_mlbench("boston", "BostonHousing2", "cmedv", c("medv", "town", "tract", "lon", "lat"))
write("credit", load_data("GermanCredit", "caret")$GermanCredit, "Class")
segmentation <- load_data("segmentationData", "caret")$segmentationData
write("cells", segmentation[, setdiff(names(segmentation), c("Cell", "Case"))], "Class")
write("sacramento", load_data("Sacramento", "caret")$Sacramento, "price")
